import { describe, expect, it } from '@jest/globals';
import type { OutboundFetch } from '#platform/outbound';
import { createGitlabHost } from './gitlab.host.js';
import type { GitHost } from './git-host.js';

/* GitLab publishes its description of the API in no package, so the answers are those of its documentation. */

const API = 'https://gitlab.example.com/api/v4';
const SHA = 'a'.repeat(40);
const OTHER_SHA = 'b'.repeat(40);
const TOKEN = 'glpat-secret';
const PROJECT = '/projects/acme%2Fplatform%2Fnetwork';
const IDENTIFIER = 'acme/platform/network';

type SentRequest = { readonly method: string; readonly path: string; readonly body: unknown };
type Answer = {
  readonly body?: unknown;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
};

const respond = ({ body = {}, status, headers = {} }: Answer, usual: number): Response =>
  new Response(status === 204 ? null : JSON.stringify(body), { status: status ?? usual, headers });

/** Returns a host that answers a method and a path, and refuses all others with the status 404. */
const openHost = (
  answers: Readonly<Record<string, Answer | ((request: SentRequest) => Answer)>>,
): { readonly host: GitHost; readonly requests: SentRequest[] } => {
  const requests: SentRequest[] = [];
  const fetch: OutboundFetch = async (url, { method = 'GET', headers = {}, body = null } = {}) => {
    expect(new Headers(headers).get('authorization')).toBe(`Bearer ${TOKEN}`);
    expect(String(url)).not.toContain(TOKEN);
    const path = String(url).slice(API.length);
    const request = { method, path, body: typeof body === 'string' ? JSON.parse(body) : null };
    requests.push(request);
    const answerOf = answers[`${method} ${path.split('?')[0]}`];
    if (!answerOf) return new Response('{"message":"404 Not Found"}', { status: 404 });
    const answer = typeof answerOf === 'function' ? answerOf(request) : answerOf;
    return respond(answer, method === 'POST' ? 201 : 200);
  };
  return { host: createGitlabHost({ documents: fetch, largeDocuments: fetch, files: fetch }, API, TOKEN), requests };
};

const project = {
  path_with_namespace: IDENTIFIER,
  default_branch: 'main',
  web_url: 'https://gitlab.example.com/acme/platform/network',
};

describe('a GitLab', () => {
  it('names the account of the token', async () => {
    const { host } = openHost({ 'GET /user': { body: { username: 'bot' } } });
    expect(await host.getUser()).toEqual({ name: 'bot' });
    const refused = openHost({ 'GET /user': { status: 401 } }).host.getUser();
    await expect(refused).rejects.toMatchObject({ failure: 'unauthorized' });
  });

  it('lists the projects of the account, also those of groups in groups', async () => {
    const { host, requests } = openHost({ 'GET /projects': { body: [project], headers: { 'x-total': '41' } } });
    const listed = await host.listRepositories({ search: 'net work', number: 2, size: 20 });
    expect([listed.total, listed.repositories[0]?.identifier]).toEqual([41, IDENTIFIER]);
    const uncounted = openHost({ 'GET /projects': { body: [project] } }).host;
    expect((await uncounted.listRepositories({ search: '', number: 3, size: 1 })).total).toBe(4);
    expect((await uncounted.listRepositories({ search: '', number: 3, size: 20 })).total).toBe(41);
    expect(requests[0]?.path).toContain('membership=true');
    expect(requests[0]?.path).toContain('search=net+work');
  });

  it('has a project or has none', async () => {
    const { host } = openHost({ [`GET ${PROJECT}`]: { body: { ...project, default_branch: null } } });
    expect(await host.findRepository(IDENTIFIER)).toMatchObject({ identifier: IDENTIFIER, defaultBranch: '' });
    for (const identifier of ['none', 'acme/none', 'acme/..?x', 'acme/', '/acme', 'acme//network'])
      expect([identifier, await host.findRepository(identifier)]).toEqual([identifier, null]);
  });

  it('reads heads, folders, tags and commits', async () => {
    const { host, requests } = openHost({
      [`GET ${PROJECT}/repository/branches/release%2F1.0`]: { body: { commit: { id: SHA } } },
      [`GET ${PROJECT}/repository/tree`]: {
        body: [
          { path: 'modules', type: 'tree' },
          { path: 'main.tf', type: 'blob' },
        ],
      },
      [`GET ${PROJECT}/repository/tags`]: { body: [{ name: 'v2', commit: { id: SHA } }, { name: 'no commit' }] },
      [`GET ${PROJECT}/repository/commits/${SHA}`]: {
        body: { message: 'Add a subnet', web_url: `${project.web_url}/-/commit/${SHA}` },
      },
    });
    expect(await host.findHead(IDENTIFIER, 'release/1.0')).toBe(SHA);
    expect(await host.findHead(IDENTIFIER, 'none')).toBeNull();
    expect(await host.listFolders(IDENTIFIER, 'release/1.0')).toEqual(['modules']);
    expect(await host.listTags(IDENTIFIER)).toEqual([{ name: 'v2', sha: SHA }]);
    expect(requests.at(-1)?.path).toContain('order_by=updated&sort=desc');
    expect(await host.getCommit(IDENTIFIER, SHA)).toEqual({
      message: 'Add a subnet',
      url: `${project.web_url}/-/commit/${SHA}`,
      cloneUrl: `${project.web_url}.git`,
    });
  });

  const compare = (forward: Answer, back: Answer = { body: { commits: [], diffs: [] } }) =>
    openHost({
      [`GET ${PROJECT}/repository/compare`]: ({ path }) => (path.includes(`from=${SHA}`) ? forward : back),
    }).host.listChangedFiles(IDENTIFIER, SHA, OTHER_SHA);

  const diff = (name: string, former = name) => ({ new_path: name, old_path: former });

  it('lists the files of a push, also the former names', async () => {
    const body = { commits: [{}], diffs: [diff('a.tf'), diff('b.tf', 'c.tf')], compare_timeout: false };
    expect(await compare({ body })).toEqual(['a.tf', 'b.tf', 'c.tf']);
  });

  it.each<[string, Answer, Answer?]>([
    ['a comparison that took too long', { body: { commits: [{}], diffs: [], compare_timeout: true } }],
    ['files that the host collapses', { body: { commits: [{}], diffs: [{ ...diff('a.tf'), collapsed: true }] } }],
    ['a forced push', { body: { commits: [{}], diffs: [diff('a.tf')] } }, { body: { commits: [{}], diffs: [] } }],
    ['commits that are gone', { status: 404 }],
    ['a comparison that fails', { status: 502 }],
    [
      'more files than the host lists',
      { body: { commits: [{}], diffs: Array.from({ length: 1_000 }, () => diff('a')) } },
    ],
  ])('does not know the files of %s', async (_, forward, back) => {
    expect(await compare(forward, back)).toBeNull();
  });

  it('lists the commits of a branch, each with its files, with one request each', async () => {
    const url = `${project.web_url}/-/commit/${SHA}`;
    const { host, requests } = openHost({
      [`GET ${PROJECT}/repository/commits`]: {
        body: [{ id: SHA, parent_ids: [OTHER_SHA], message: 'Add a subnet', web_url: url }],
      },
      [`GET ${PROJECT}/repository/compare`]: { body: { commits: [{}], diffs: [diff('a.tf')], compare_timeout: false } },
    });
    expect(await host.listCommits(IDENTIFIER, SHA, 20)).toEqual([
      { sha: SHA, parent: OTHER_SHA, message: 'Add a subnet', url },
    ]);
    expect(await host.listCommitFiles(IDENTIFIER, { parent: OTHER_SHA, sha: SHA })).toEqual(['a.tf']);
    expect(requests.map(({ path }) => path)).toEqual([
      `${PROJECT}/repository/commits?ref_name=${SHA}&per_page=20`,
      `${PROJECT}/repository/compare?from=${OTHER_SHA}&to=${SHA}&straight=false`,
    ]);
  });

  it('finds the commit of a submodule in its folder', async () => {
    const { host, requests } = openHost({
      [`GET ${PROJECT}/repository/tree`]: {
        body: [
          { id: OTHER_SHA, path: 'modules/other', type: 'tree' },
          { id: SHA, path: 'modules/vpc', type: 'commit' },
        ],
      },
    });
    expect(await host.findSubmodule(IDENTIFIER, OTHER_SHA, 'modules/vpc')).toBe(SHA);
    expect(await host.findSubmodule(IDENTIFIER, OTHER_SHA, 'modules/other')).toBeNull();
    expect(await host.findSubmodule(IDENTIFIER, OTHER_SHA, 'vpc')).toBeNull();
    // Each folder of a commit is listed once.
    expect(requests.map(({ path }) => path.includes('path=modules&'))).toEqual([true, false]);
    await expect(openHost({}).host.findSubmodule(IDENTIFIER, OTHER_SHA, 'vpc')).resolves.toBeNull();
  });

  it('creates and finds webhooks', async () => {
    const url = 'https://cadastre.example.com/webhooks/1';
    const events = { push_events: true, tag_push_events: true, merge_requests_events: true };
    const { host, requests } = openHost({
      [`POST ${PROJECT}/hooks`]: { body: { id: 7, url, ...events } },
      [`GET ${PROJECT}/hooks`]: {
        body: [
          { id: 7, url, ...events },
          { id: 8, url, ...events, tag_push_events: false },
          { id: 9, url, ...events, alert_status: 'disabled' },
        ],
      },
      [`DELETE ${PROJECT}/hooks/7`]: { status: 204 },
    });
    expect(await host.createWebhook(IDENTIFIER, { url, secret: 'secret' })).toBe('7');
    expect(requests[0]?.body).toMatchObject({ token: 'secret', ...events });
    expect((await host.listWebhooks(IDENTIFIER)).map(({ isComplete }) => isComplete)).toEqual([true, false, false]);
    await host.deleteWebhook(IDENTIFIER, '7');
    await host.deleteWebhook(IDENTIFIER, '9');
  });

  it('lists merge requests, and says which come from a fork', async () => {
    const row = {
      title: 'Add a subnet',
      web_url: `${project.web_url}/-/merge_requests/1`,
      sha: SHA,
      source_branch: 'subnet',
      target_branch: 'main',
      target_project_id: 1,
      author: { username: 'ada' },
    };
    const { host } = openHost({
      [`GET ${PROJECT}/merge_requests`]: {
        body: [
          { ...row, iid: 1, source_project_id: 1 },
          { ...row, iid: 2, source_project_id: 2 },
          { ...row, iid: 3, source_project_id: null },
          { ...row, iid: 4, source_project_id: 1, sha: null },
        ],
      },
      [`GET ${PROJECT}/merge_requests/1/diffs`]: { body: [diff('a.tf')] },
    });
    const listed = await host.listPullRequests(IDENTIFIER);
    expect(listed.map(({ number, isFork }) => [number, isFork])).toEqual([
      [1, false],
      [2, true],
      [3, true],
    ]);
    expect(listed[0]).toMatchObject({ branch: 'subnet', baseBranch: 'main', author: 'ada' });
    expect(await host.listPullRequestFiles(IDENTIFIER, 1)).toEqual(['a.tf']);
    expect(await host.listPullRequestFiles(IDENTIFIER, 2)).toBeNull();
  });

  it('finds, writes and changes the note of its account', async () => {
    const notes = `${PROJECT}/merge_requests/7/notes`;
    const { host, requests } = openHost({
      'GET /user': { body: { username: 'bot' } },
      [`GET ${notes}`]: {
        body: [
          { id: 1, body: 'mark', author: { username: 'eve' } },
          { id: 2, body: null, author: null },
          { id: 5, body: 'quotes mark', author: { username: 'bot' } },
          { id: 3, body: 'mark and text', author: { username: 'bot' } },
        ],
      },
      [`POST ${notes}`]: { body: { id: 4 } },
      [`PUT ${notes}/3`]: { body: { id: 3 } },
    });
    expect(await host.findComment(IDENTIFIER, 7, 'mark')).toBe('3');
    expect(await host.findComment(IDENTIFIER, 7, 'none')).toBeNull();
    expect(await host.createComment(IDENTIFIER, 7, 'text')).toBe('4');
    await host.updateComment(IDENTIFIER, 7, '3', 'changed');
    await expect(host.updateComment(IDENTIFIER, 7, '5', 'changed')).rejects.toMatchObject({ failure: 'not-found' });
    expect(requests.filter(({ method }) => method !== 'GET').map(({ body }) => body)).toEqual([
      { body: 'text' },
      { body: 'changed' },
      { body: 'changed' },
    ]);
  });

  it('sets a status once, because the host refuses the present one', async () => {
    let present: readonly object[] = [];
    const { host, requests } = openHost({
      [`GET ${PROJECT}/repository/commits/${SHA}/statuses`]: () => ({ body: present }),
      [`POST ${PROJECT}/statuses/${SHA}`]: {},
    });
    const status = {
      state: 'failure',
      context: 'cadastre/network',
      description: 'Failed',
      url: 'https://c.test',
    } as const;
    await host.setStatus(IDENTIFIER, SHA, status);
    present = [{ status: 'failed' }];
    await host.setStatus(IDENTIFIER, SHA, status);
    const sent = requests.filter(({ method }) => method === 'POST');
    expect(sent.map(({ body }) => body)).toEqual([
      { state: 'failed', name: 'cadastre/network', description: 'Failed', target_url: 'https://c.test' },
    ]);
  });
});
