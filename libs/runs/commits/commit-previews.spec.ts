import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { tooManyRequests } from '#platform/kernel';
import type { GitHost } from '#vcs/git-hosts';
import { CommitPreviews, type PreviewSubject } from './commit-previews.service.js';
import { INSTALL_GITEA_TIMEOUT_MS, startGitea, type Gitea } from '../../../test/support/gitea.js';
import { makeOauthClient, REACHES_GIT_HOSTS } from '../../../test/support/git-host.js';
import { createRecordingProxy, type RecordingProxy } from '../../../test/support/recording-proxy.js';
import { expectStatus, makeOrganization, makeWorkspace, resource } from '../../../test/support/seeds.js';
import { startTestServer, type ApiResponse, type TestServer } from '../../../test/support/server.js';

let gitea: Gitea;
let proxy: RecordingProxy;
let server: TestServer;
let token: string;
let repository: string;

beforeAll(async () => {
  gitea = await startGitea();
  proxy = await createRecordingProxy(gitea.url);
  server = await startTestServer({ env: REACHES_GIT_HOSTS });
  await makeOrganization(server, 'acme');
  ({ token } = await makeOauthClient(server, 'acme', { url: proxy.url, token: gitea.token }));
  repository = await gitea.makeRepository('previewed', { 'main.tf': 'terraform {}\n' });
  await gitea.commit(repository, 'main', { 'network/main.tf': '#\n' }, 'Network');
  await gitea.commit(repository, 'topic', { 'docs/topic.md': '#\n', 'network/more.tf': '#\n' }, 'Topic');
  await gitea.runGit(repository, [
    ['commit', '--allow-empty', '--message', 'Nothing'],
    ['merge', '--no-ff', '--message', 'Merge', 'origin/topic'],
    ['push', 'origin', 'main'],
  ]);
}, INSTALL_GITEA_TIMEOUT_MS);

afterAll(async () => {
  await server.close();
  await proxy.close();
  await gitea.remove();
});

const bind = (name: string, attributes: object = {}): Promise<string> =>
  makeWorkspace(server, 'acme', name, {
    'vcs-repo': { identifier: repository, 'oauth-token-id': token },
    'queue-all-runs': true,
    ...attributes,
  });

const send = (workspace: string, attributes: object = {}): Promise<ApiResponse> =>
  server.post(`/api/v2/workspaces/${workspace}/commit-previews`, resource('commit-previews', attributes));

type Previewed = { readonly message: string | null; readonly tag: string | null; readonly reason: string | null };

const preview = async (workspace: string, attributes: object = {}): Promise<readonly Previewed[]> =>
  expectStatus(await send(workspace, attributes), 200).body.data.attributes.commits;

const listReasons = async (workspace: string, attributes: object = {}) =>
  (await preview(workspace, attributes)).map(({ message, tag, reason }) => [message?.trim() ?? tag, reason]);

const NO_FILE = 'No changed file matches the triggers';

describe('a preview of commits', () => {
  it('decides the commits of the branch like pushes, with the files of merged branches', async () => {
    const workspace = await bind('stored', { 'working-directory': 'network' });
    expect(await listReasons(workspace)).toEqual([
      ['Merge', null],
      ['Nothing', NO_FILE],
      ['Topic', null],
      ['Network', null],
      // The files of the first commit of a repository are unknown.
      ['Add files', null],
    ]);
    const { attributes } = expectStatus(await send(workspace), 200).body.data;
    expect(attributes).toMatchObject({ branch: 'main', identifier: repository });
    expect(attributes.commits[0]).toMatchObject({
      'changed-files': 2,
      'starts-run': true,
      tag: null,
      url: expect.stringContaining(`/${repository}/commit/`),
    });
  });

  it('replaces settings by those of the request, and stores none of them', async () => {
    const workspace = await bind('unsaved', { 'trigger-prefixes': ['network'] });
    const docs = { 'trigger-patterns': ['docs/**'] };
    expect((await listReasons(workspace, docs)).filter(([, reason]) => reason === null)).toEqual([
      ['Merge', null],
      ['Topic', null],
      ['Add files', null],
    ]);
    const all = await listReasons(workspace, { 'file-triggers-enabled': false });
    expect(all.map(([, reason]) => reason)).toEqual([null, null, null, null, null]);
    const topic = await listReasons(workspace, { 'vcs-repo': { branch: 'topic' } });
    expect(topic.map(([message]) => message)).toEqual(['Topic', 'Network', 'Add files']);
    const { attributes } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data;
    expect(attributes).toMatchObject({ 'trigger-prefixes': ['network'], 'vcs-repo': { branch: '' } });
  });

  it('says why no commit starts a run before a person has started one', async () => {
    const workspace = await bind('waiting', { 'queue-all-runs': false });
    const [merge] = await preview(workspace);
    expect(merge?.reason).toContain('queue-all-runs');
  });

  it('decides the newest tags if tags start runs', async () => {
    await gitea.call('POST', `/repos/${repository}/tags`, { tag_name: 'v1.0.0', target: 'main' });
    await gitea.call('POST', `/repos/${repository}/tags`, { tag_name: 'nightly', target: 'main' });
    const workspace = await bind('tagged');
    const reasons = await listReasons(workspace, { 'vcs-repo': { 'tags-regex': '^v[0-9]' } });
    expect(Object.fromEntries(reasons)).toEqual({
      'v1.0.0': null,
      nightly: 'The tag does not match the tags regex',
    });
  });

  it('requests the files of a commit from the Git host once', async () => {
    const other = await gitea.makeRepository('counted', { 'main.tf': 'terraform {}\n' });
    for (const name of ['a', 'b', 'c']) await gitea.commit(other, 'main', { [`${name}.tf`]: '#\n' }, name);
    const workspace = await bind('counted', { 'vcs-repo': { identifier: other, 'oauth-token-id': token } });
    const countRequests = async (attributes: object): Promise<number> => {
      const before = proxy.requests.length;
      await preview(workspace, attributes);
      return proxy.requests.length - before;
    };
    // The repository, the head, the list, and three commits that have a parent.
    expect(await countRequests({})).toBe(6);
    expect(await countRequests({ 'trigger-prefixes': ['modules'] })).toBe(3);
    expect(await countRequests({ 'vcs-repo': { branch: 'main' } })).toBe(2);
  });
});

describe('a preview of commits is refused', () => {
  it.each<[string, object, string]>([
    ['for an invalid expression', { 'vcs-repo': { 'tags-regex': '(' } }, '/data/attributes/vcs-repo/tags-regex'],
    [
      'for patterns beside prefixes',
      { 'trigger-patterns': ['a'], 'trigger-prefixes': ['b'] },
      '/data/attributes/trigger-patterns',
    ],
    ['for a branch that does not exist', { 'vcs-repo': { branch: 'none' } }, '/data/attributes/vcs-repo/branch'],
    ['for a branch outside of branches', { 'vcs-repo': { branch: '..' } }, '/data/attributes/vcs-repo/branch'],
    [
      'for a repository that no path can name',
      { 'vcs-repo': { identifier: '../user' } },
      '/data/attributes/vcs-repo/identifier',
    ],
    ['without a repository', { 'vcs-repo': null }, '/data/attributes/vcs-repo'],
    [
      'for the token of no connection',
      { 'vcs-repo': { 'oauth-token-id': 'ot-none' } },
      '/data/attributes/vcs-repo/oauth-token-id',
    ],
  ])('%s', async (title, attributes, pointer) => {
    const workspace = await bind(title.replaceAll(' ', '-'));
    const { errors } = expectStatus(await send(workspace, attributes), 422).body;
    expect(errors[0].source.pointer).toBe(pointer);
  });

  it('in a workspace that runs nothing here', async () => {
    const workspace = await bind('local', { 'execution-mode': 'local' });
    expect(expectStatus(await send(workspace), 422).body.errors[0].detail).toContain('execution mode is local');
  });

  it('for the connection of another organization', async () => {
    await makeOrganization(server, 'umbrella');
    const other = await makeOauthClient(server, 'umbrella', { url: proxy.url, token: gitea.token });
    const workspace = await bind('curious');
    const before = proxy.requests.length;
    expectStatus(await send(workspace, { 'vcs-repo': { 'oauth-token-id': other.token } }), 422);
    expect(proxy.requests).toHaveLength(before);
  });

  it.each([
    ['four others of the connection', 4, () => ({ id: 'oc-1', organization: 'org-1' })],
    ['eight others of the organization', 8, (number: number) => ({ id: `oc-${number}`, organization: 'org-1' })],
    ['32 others', 32, (number: number) => ({ id: `oc-${number}`, organization: `org-${number}` })],
  ])('while %s run', async (_, most, toClient) => {
    const started = Promise.withResolvers<never>();
    const previews = new CommitPreviews({ use: () => started.promise });
    const run = (number: number) =>
      previews.preview({ client: toClient(number), target: { tagsRegex: null } } as PreviewSubject);
    const running = Array.from({ length: most }, (_none, number) => run(number));
    await expect(run(most)).rejects.toMatchObject({ kind: 'too-many' });
    started.reject(tooManyRequests('The host limits the requests of this token', 1));
    for (const each of running) await expect(each).rejects.toThrow('The host limits');
    await expect(run(most)).rejects.toThrow('The host limits');
  });
});

describe('the work of a preview', () => {
  /** Returns a preview of commits that change files, and the number of requests for files. */
  const previewFiles = (files: readonly string[], triggerPatterns: readonly string[]) => {
    const ids = ['3', '2', '1'];
    let requests = 0;
    const host: Partial<GitHost> = {
      findHead: async () => '3',
      listCommits: async () => ids.map((sha) => ({ sha, parent: 'x', message: sha, url: 'https://git.example.com' })),
      listCommitFiles: async () => {
        requests += 1;
        return files;
      },
    };
    const previews = new CommitPreviews({ use: (_, work) => work(host as GitHost) });
    const target = {
      branch: 'main',
      tagsRegex: null,
      fileTriggersEnabled: true,
      triggerPatterns,
      triggerPrefixes: [],
      queueAllRuns: true,
    } as Partial<PreviewSubject['target']>;
    const subject = { client: { id: 'oc-1', organization: 'org-1' }, identifier: 'acme/network', target };
    return { preview: () => previews.preview(subject as PreviewSubject), countRequests: () => requests };
  };

  it('is limited for all commits together, and the others are not decided', async () => {
    // Each commit has 1.2 million comparisons, of the 3 million that a preview has.
    const { preview } = previewFiles(
      Array.from({ length: 1_200 }, () => 'a'.repeat(10)),
      ['b'.repeat(100)],
    );
    const { commits } = await preview();
    expect(commits.map(({ startsRun, reason }) => [startsRun, reason])).toEqual([
      [false, 'No changed file matches the triggers'],
      [false, 'No changed file matches the triggers'],
      [null, 'The files and trigger patterns are too many to compare in a preview'],
    ]);
  });

  it('keeps no list of more files than are compared', async () => {
    const few = previewFiles(['a'], ['b']);
    const many = previewFiles(
      Array.from({ length: 5_001 }, () => 'a'),
      ['b'],
    );
    for (const { preview } of [few, few, many, many]) await preview();
    expect([few.countRequests(), many.countRequests()]).toEqual([3, 6]);
  });
});
