import { describe, expect, it } from '@jest/globals';
import type { OutboundFetch } from '#platform/outbound';
import {
  DescribedGithub,
  INSTALL_DESCRIPTIONS_TIMEOUT_MS,
  type HostAnswers,
} from '../../../test/support/github-description.js';
import { createGithubHost } from './github.host.js';
import type { GitHost } from './git-host.js';

const SHA = 'a'.repeat(40);
const OTHER_SHA = 'b'.repeat(40);
const TOKEN = 'ghp_secret';

type OpenedHost = { readonly host: GitHost; readonly github: DescribedGithub };

const REPO = '/repos/{owner}/{repo}';

const page = (last: number) => ({ link: `<https://api.github.com/user/repos?page=${last}>; rel="last"` });

describe.each([
  ['github', 'https://api.github.com', 'https://api.github.com/graphql'],
  ['enterprise', 'https://git.example.com/api/v3', 'https://git.example.com/api/graphql'],
] as const)('a host of the kind %s', (kind, apiUrl, graphql) => {
  const open = async (answers: HostAnswers, queries: OutboundFetch | null = null): Promise<OpenedHost> => {
    const github = await DescribedGithub.open(kind, apiUrl, answers);
    const fetch: OutboundFetch = (url, options) =>
      queries && !String(url).startsWith(`${apiUrl}/repos`) ? queries(url, options) : github.fetch(url, options);
    return { github, host: createGithubHost({ documents: fetch, largeDocuments: fetch, files: fetch }, apiUrl, TOKEN) };
  };

  it(
    'names the account of the token, which no address contains',
    async () => {
      const { host, github } = await open({ 'GET /user': (example) => ({ body: { ...example, login: 'bot' } }) });
      expect(await host.getUser()).toEqual({ name: 'bot' });
      expect(github.requests).toMatchObject([{ path: '/user', authorization: `Bearer ${TOKEN}` }]);
    },
    INSTALL_DESCRIPTIONS_TIMEOUT_MS,
  );

  it('counts the repositories of all pages', async () => {
    const { host } = await open({
      'GET /user/repos': ([example], { path }) => ({
        body: [{ ...example, full_name: 'acme/network', default_branch: 'main' }],
        headers: path.includes('per_page=1&') ? page(7) : page(4),
      }),
    });
    const listed = await host.listRepositories({ search: undefined, number: 1, size: 2 });
    expect([listed.total, listed.repositories[0]?.identifier]).toEqual([7, 'acme/network']);
  });

  it('searches the repositories of the account only', async () => {
    const { host, github } = await open({
      'GET /user/repos': ([example], { path }) => ({
        body: ['acme/network', 'acme/shop'].map((full_name) => ({ ...example, full_name, default_branch: 'main' })),
        headers: path.includes('&page=1') ? page(2) : {},
      }),
    });
    const listed = await host.listRepositories({ search: 'Netw', number: 1, size: 20 });
    expect(listed.repositories.map(({ identifier }) => identifier)).toEqual(['acme/network', 'acme/network']);
    expect(github.requests).toHaveLength(2);
  });

  it('has a repository or has none', async () => {
    const { host } = await open({
      // The examples of the description lack some members that it requires.
      [`GET ${REPO}`]: (example) => ({
        body: { ...example, source: undefined, full_name: 'acme/network', default_branch: 'trunk', language: 'HCL' },
      }),
    });
    expect(await host.findRepository('acme/network')).toMatchObject({
      identifier: 'acme/network',
      defaultBranch: 'trunk',
    });
    expect(await (await open({})).host.findRepository('acme/none')).toBeNull();
    for (const identifier of ['none', '../user', 'a/..', 'a/b/c', 'a/b?c=/'])
      expect([identifier, await host.findRepository(identifier)]).toEqual([identifier, null]);
  });

  it('reads heads, folders and commits', async () => {
    const { host, github } = await open({
      [`GET ${REPO}/branches/{branch}`]: (example) => ({
        body: { ...example, commit: { ...example.commit, sha: SHA } },
      }),
      [`GET ${REPO}/git/trees/{tree_sha}`]: (example) => ({
        body: {
          ...example,
          tree: [
            { path: 'modules', mode: '040000', type: 'tree', sha: SHA },
            { path: 'main.tf', mode: '100644', type: 'blob', sha: SHA },
          ],
        },
      }),
      [`GET ${REPO}/git/commits/{commit_sha}`]: (example) => ({
        body: { ...example, message: 'Add a subnet', html_url: `https://github.com/acme/network/commit/${SHA}` },
      }),
    });
    expect(await host.findHead('acme/network', 'release/1.0')).toBe(SHA);
    expect(github.requests.at(-1)?.path).toBe('/repos/acme/network/branches/release%2F1.0');
    expect(await host.listFolders('acme/network', 'main')).toEqual(['modules']);
    expect(await host.getCommit('acme/network', SHA)).toEqual({
      message: 'Add a subnet',
      url: `https://github.com/acme/network/commit/${SHA}`,
      cloneUrl: 'https://github.com/acme/network.git',
    });
    expect(await (await open({})).host.findHead('acme/network', 'none')).toBeNull();
  });

  it('lists tags by the time of their commits, with the commits of annotated tags', async () => {
    const cursors: unknown[] = [];
    const { host } = await open({}, async (url, { body } = {}) => {
      expect(String(url)).toBe(graphql);
      const { variables } = JSON.parse(String(body));
      cursors.push(variables.after);
      const nodes =
        variables.after === null
          ? [
              { name: 'v2', target: { oid: OTHER_SHA, target: { oid: SHA } } },
              { name: 'x'.repeat(2_000), target: { oid: SHA } },
            ]
          : [{ name: 'v1', target: { oid: OTHER_SHA } }];
      const pageInfo = { hasNextPage: variables.after === null, endCursor: 'next' };
      return new Response(JSON.stringify({ data: { repository: { refs: { nodes, pageInfo } } } }));
    });
    expect(await host.listTags('acme/network')).toEqual([
      { name: 'v2', sha: SHA },
      { name: 'v1', sha: OTHER_SHA },
    ]);
    expect(cursors).toEqual([null, 'next']);
  });

  const compare = async (status: string, files: readonly object[]): Promise<readonly string[] | null> => {
    const { host } = await open({
      [`GET ${REPO}/compare/{basehead}`]: (example) => ({
        body: { ...example, status, files: files.map((file) => ({ ...example.files[0], ...file })) },
      }),
    });
    return host.listChangedFiles('acme/network', SHA, OTHER_SHA);
  };

  it('lists the files of a push, also the former names', async () => {
    const files = [{ filename: 'a.tf' }, { filename: 'b.tf', status: 'renamed', previous_filename: 'c.tf' }];
    expect(await compare('ahead', files)).toEqual(['a.tf', 'b.tf', 'c.tf']);
    expect(await compare('identical', [])).toEqual([]);
  });

  it('does not know the files of forced pushes, of large pushes, and of commits that are gone', async () => {
    expect(await compare('diverged', [{ filename: 'a.tf' }])).toBeNull();
    expect(await compare('behind', [])).toBeNull();
    const many = Array.from({ length: 300 }, (_, number) => ({ filename: `${number}.tf` }));
    expect(await compare('ahead', many)).toBeNull();
    expect(await (await open({})).host.listChangedFiles('acme/network', SHA, OTHER_SHA)).toBeNull();
  });

  it('lists the commits of a branch, each with its files, with one request each', async () => {
    const { host, github } = await open({
      [`GET ${REPO}/commits`]: ([example]) => ({
        body: [
          { ...example, sha: SHA, parents: [{ ...example.parents[0], sha: OTHER_SHA }] },
          { ...example, sha: OTHER_SHA, parents: [] },
        ],
      }),
      [`GET ${REPO}/compare/{basehead}`]: (example) => ({
        body: { ...example, status: 'ahead', files: [{ ...example.files[0], filename: 'a.tf' }] },
      }),
    });
    expect(await host.listCommits('acme/network', SHA, 20)).toMatchObject([
      { sha: SHA, parent: OTHER_SHA },
      { sha: OTHER_SHA, parent: null },
    ]);
    expect(await host.listCommitFiles('acme/network', { parent: OTHER_SHA, sha: SHA })).toEqual(['a.tf']);
    expect(github.requests.map(({ path }) => path)).toEqual([
      `/repos/acme/network/commits?sha=${SHA}&per_page=20`,
      `/repos/acme/network/compare/${OTHER_SHA}...${SHA}?per_page=1`,
    ]);
  });

  it('finds the commit of a submodule', async () => {
    const { host, github } = await open({
      [`GET ${REPO}/contents/{path}`]: (_, { path }) => ({
        body: {
          type: path.includes('main.tf') ? 'file' : 'submodule',
          submodule_git_url: 'https://github.com/acme/vpc.git',
          size: 0,
          name: 'vpc',
          path: 'modules/a b',
          sha: SHA,
          url: 'https://api.github.com/repos/acme/network/contents/vpc',
          git_url: null,
          html_url: null,
          download_url: null,
          _links: { git: null, self: 'https://api.github.com/repos/acme/network/contents/vpc', html: null },
          ...(path.includes('main.tf') && { encoding: 'base64', content: '' }),
        },
      }),
    });
    expect(await host.findSubmodule('acme/network', OTHER_SHA, 'a b')).toBe(SHA);
    expect(github.requests[0]?.path).toBe(`/repos/acme/network/contents/a%20b?ref=${OTHER_SHA}`);
    expect(await host.findSubmodule('acme/network', OTHER_SHA, 'main.tf')).toBeNull();
    expect(await (await open({})).host.findSubmodule('acme/network', OTHER_SHA, 'none')).toBeNull();
  });

  it('creates and finds webhooks', async () => {
    const config = { url: 'https://cadastre.example.com/webhooks/1', content_type: 'json', insecure_ssl: '0' };
    const { host, github } = await open({
      [`POST ${REPO}/hooks`]: (example) => ({ body: { ...example, id: 7 } }),
      [`GET ${REPO}/hooks`]: ([example]) => ({
        body: [
          { ...example, id: 7, active: true, events: ['push', 'pull_request'], config },
          { ...example, id: 8, active: true, events: ['push'], config },
        ],
      }),
      [`DELETE ${REPO}/hooks/{hook_id}`]: () => ({}),
    });
    expect(await host.createWebhook('acme/network', { url: config.url, secret: 'secret' })).toBe('7');
    expect(github.requests[0]?.body).toMatchObject({ config: { secret: 'secret', content_type: 'json' } });
    expect(await host.listWebhooks('acme/network')).toEqual([
      { id: '7', url: config.url, isComplete: true },
      { id: '8', url: config.url, isComplete: false },
    ]);
    await host.deleteWebhook('acme/network', '7');
    await (await open({})).host.deleteWebhook('acme/network', '9');
  });

  it('lists pull requests, and says which come from a fork', async () => {
    const { host } = await open({
      [`GET ${REPO}/pulls`]: ([example]) => ({
        body: [
          [1, example.head.repo],
          [2, { ...example.head.repo, id: 99 }],
        ].map(([number, repo]) => ({
          ...example,
          number,
          head: { ...example.head, sha: SHA, repo },
          base: { ...example.base, sha: OTHER_SHA },
          requested_teams: [],
        })),
      }),
      [`GET ${REPO}/pulls/{pull_number}/files`]: ([example]) => ({ body: [{ ...example, filename: 'a.tf' }] }),
    });
    const listed = await host.listPullRequests('acme/network');
    expect(listed.map(({ number, isFork }) => [number, isFork])).toEqual([
      [1, false],
      [2, true],
    ]);
    expect(await host.listPullRequestFiles('acme/network', 1)).toEqual(['a.tf']);
  });

  it('finds, writes and changes the comment of its account', async () => {
    const comments = `${REPO}/issues/{issue_number}/comments`;
    const { host, github } = await open({
      'GET /user': (example) => ({ body: { ...example, login: 'bot' } }),
      [`GET ${comments}`]: ([example]) => ({
        body: [
          { ...example, id: 1, body: 'mark', user: { ...example.user, login: 'eve' } },
          { ...example, id: 2, body: 'other', user: { ...example.user, login: 'bot' } },
          { ...example, id: 5, body: 'quotes mark', user: { ...example.user, login: 'bot' } },
          { ...example, id: 3, body: 'mark and text', user: { ...example.user, login: 'bot' } },
        ],
      }),
      [`POST ${comments}`]: (example) => ({ body: { ...example, id: 4 } }),
      [`PATCH ${REPO}/issues/comments/{comment_id}`]: (example) => ({ body: { ...example, id: 3 } }),
    });
    expect(await host.findComment('acme/network', 7, 'mark')).toBe('3');
    expect(await host.findComment('acme/network', 7, 'none')).toBeNull();
    expect(await host.createComment('acme/network', 7, 'text')).toBe('4');
    await host.updateComment('acme/network', 7, '3', 'changed');
    const sent = github.requests.filter(({ method }) => method !== 'GET');
    expect(sent.map(({ method, path, body }) => [method, path, body])).toEqual([
      ['POST', '/repos/acme/network/issues/7/comments', { body: 'text' }],
      ['PATCH', '/repos/acme/network/issues/comments/3', { body: 'changed' }],
    ]);
  });

  it('writes statuses', async () => {
    const { host, github } = await open({ [`POST ${REPO}/statuses/{sha}`]: (example) => ({ body: example }) });
    const status = { state: 'success', context: 'cadastre/network', url: 'https://cadastre.example.com/run' } as const;
    await host.setStatus('acme/network', SHA, { ...status, description: 'x'.repeat(200) });
    expect(github.requests[0]?.body).toMatchObject({ description: 'x'.repeat(140) });
  });

  const refuse = async (status: number, headers: Readonly<Record<string, string>>) => {
    const { host } = await open({ 'GET /user': () => ({ status, headers }) });
    return host.getUser();
  };

  it('pauses until an exhausted limit is full again, by the clock of the host', async () => {
    const date = 'Sun, 29 Nov 2026 10:00:00 GMT';
    const reset = `${Date.parse(date) / 1_000 + 90}`;
    const exhausted = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset, date };
    await expect(refuse(403, exhausted)).rejects.toMatchObject({ failure: 'rate-limited', retryAfter: 90 });
    await expect(refuse(429, { 'retry-after': '60' })).rejects.toMatchObject({
      failure: 'rate-limited',
      retryAfter: 60,
    });
    await expect(refuse(403, { 'retry-after': '30' })).rejects.toMatchObject({ retryAfter: 30 });
    await expect(refuse(403, { 'x-ratelimit-remaining': '17' })).rejects.toMatchObject({ failure: 'forbidden' });
    await expect(refuse(401, {})).rejects.toMatchObject({ failure: 'unauthorized' });
  });

  it('pauses until an exhausted limit of tags is full again', async () => {
    const date = 'Sun, 29 Nov 2026 10:00:00 GMT';
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': `${Date.parse(date) / 1_000 + 90}`, date };
    const answer = JSON.stringify({ errors: [{ type: 'RATE_LIMITED' }] });
    const { host } = await open({}, async () => new Response(answer, { headers }));
    await expect(host.listTags('acme/network')).rejects.toMatchObject({ failure: 'rate-limited', retryAfter: 90 });
  });

  const download = async (location: string) => {
    const sent: (string | null)[][] = [];
    const fetch: OutboundFetch = async (url, { headers = {} } = {}) => {
      sent.push([String(url), new Headers(headers).get('authorization')]);
      return sent.length === 1
        ? new Response(null, { status: 302, headers: { location } })
        : new Response('archive', { status: 200 });
    };
    const host = createGithubHost({ documents: fetch, largeDocuments: fetch, files: fetch }, apiUrl, TOKEN);
    const archive = (await host.downloadArchive('acme/network', SHA)).toString();
    return { archive, sent };
  };

  it('downloads an archive from another server, which does not get the token', async () => {
    const location = `https://codeload.example.com/acme/network/legacy.tar.gz/${SHA}?token=x`;
    expect(await download(location)).toEqual({
      archive: 'archive',
      sent: [
        [`${apiUrl}/repos/acme/network/tarball/${SHA}`, `Bearer ${TOKEN}`],
        [location, null],
      ],
    });
    await expect(download('http://codeload.example.com/x')).rejects.toMatchObject({ failure: 'unexpected' });
  });

  it('follows a renamed repository on the same server only', async () => {
    const follow = async (location: string) => {
      const sent: string[] = [];
      const fetch: OutboundFetch = async (url) => {
        sent.push(String(url));
        const renamed = { full_name: 'acme/renamed', default_branch: 'main', html_url: 'https://github.com/acme' };
        return String(url).endsWith('/repos/acme/network')
          ? new Response(null, { status: 301, headers: { location } })
          : new Response(JSON.stringify(renamed));
      };
      const repository = await createGithubHost(
        { documents: fetch, largeDocuments: fetch, files: fetch },
        apiUrl,
        TOKEN,
      ).findRepository('acme/network');
      return [repository?.identifier, sent.length];
    };
    expect(await follow(`${apiUrl}/repositories/1`)).toEqual(['acme/renamed', 2]);
    await expect(follow('https://evil.example.com/repositories/1')).rejects.toMatchObject({ failure: 'unexpected' });
    await expect(follow(`${apiUrl}/repos/acme/network`)).rejects.toMatchObject({ failure: 'unexpected' });
  });
});
