import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { createCommitsJobs } from './index.js';
import { INSTALL_GITEA_TIMEOUT_MS, startGitea, type Gitea } from '../../../test/support/gitea.js';
import { makeOauthClient, REACHES_GIT_HOSTS } from '../../../test/support/git-host.js';
import { waitUntil } from '../../../test/support/product.js';
import { runJobs } from '../../../test/support/scheduled-jobs.js';
import { expectStatus, makeOrganization, makeRemotePool, makeWorkspace } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

const COMMITS_OF_A_PUSH = 60;
/** It shows the text after it from right to left. */
const RIGHT_TO_LEFT = '\u202e';

let gitea: Gitea;
let server: TestServer;
let token: string;
let repositories = 0;

beforeAll(async () => {
  gitea = await startGitea();
  server = await startTestServer({ followers: true, env: REACHES_GIT_HOSTS });
  await makeOrganization(server, 'acme');
  await makeRemotePool(server, 'acme', 'edge');
  ({ token } = await makeOauthClient(server, 'acme', gitea));
}, INSTALL_GITEA_TIMEOUT_MS);

afterAll(async () => {
  await server.close();
  await gitea.remove();
});

const run = async (publicUrl: string, ...names: readonly string[]): Promise<void> => {
  const { runtime, store } = server;
  await runJobs(createCommitsJobs({ ...runtime, ...runtime.settings, store, publicUrl }), ...names);
};

const makeRepository = (): Promise<string> => {
  repositories += 1;
  return gitea.makeRepository(`rewritten-${repositories}`, { 'main.tf': 'terraform {}\n' });
};

type Listed = { readonly id: string; readonly attributes: Readonly<Record<string, unknown>> };

const listRuns = async (workspace: string): Promise<readonly Listed[]> =>
  expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body.data;

const listMessages = async (workspace: string): Promise<readonly unknown[]> =>
  (await listRuns(workspace)).map(({ attributes }) => attributes['message']);

const countDeliveries = async (identifier: string): Promise<number> => {
  const row = await server.database.row<{ readonly count: number }>(sql`
    select count(*)::int as count from commits.webhook_deliveries d join commits.webhooks h on h.id = d.webhook
     where h.identifier = ${identifier}`);
  return row?.count ?? 0;
};

/** Changes a repository, and reads it: at once after its delivery, or in the next poll. */
type ReadAfter = (identifier: string, change: () => Promise<unknown>) => Promise<void>;

/** Without deliveries: with an address of the loopback, the server creates no webhooks. */
const readByPolls: ReadAfter = async (_, change) => {
  await change();
  await run(server.url, 'repository_commits', 'commit_fetches');
};

const readByDeliveries: ReadAfter = async (identifier, change) => {
  const publicUrl = server.url.replace('127.0.0.1', '0.0.0.0');
  await run(publicUrl, 'repository_commits', 'commit_fetches');
  const before = await countDeliveries(identifier);
  await change();
  await waitUntil(async () => (await countDeliveries(identifier)) > before, 'the delivery of the change');
  await run(publicUrl, 'webhook_deliveries', 'commit_fetches');
};

describe.each([
  { from: 'deliveries', read: readByDeliveries },
  { from: 'polls', read: readByPolls },
])('a repository that is read after $from', ({ from, read }) => {
  const bind = async (
    identifier: string,
    name: string,
    repo: object = {},
    attributes: object = {},
  ): Promise<string> => {
    const workspace = await makeWorkspace(server, 'acme', `${name}-${from}`, {
      'vcs-repo': { identifier, 'oauth-token-id': token, ...repo },
      'queue-all-runs': true,
      ...attributes,
    });
    await readByPolls(identifier, async () => undefined);
    return workspace;
  };

  it('runs the commit of a push with force once, and no commit that it had before', async () => {
    const identifier = await makeRepository();
    // Git hosts refuse commits that no clone has, and a clone has only those of branches.
    await gitea.call('POST', `/repos/${identifier}/branches`, { new_branch_name: 'kept', old_branch_name: 'main' });
    const workspace = await bind(identifier, 'forced');
    const amend = [
      ['commit', '--amend', '--message', 'Rewritten'],
      ['push', '--force', 'origin', 'main'],
    ];
    const { commit } = await gitea.call('GET', `/repos/${identifier}/branches/main`);
    await read(identifier, () => gitea.runGit(identifier, amend));
    expect(await listMessages(workspace)).toEqual(['Rewritten\n', 'Add files\n']);
    await read(identifier, () => gitea.pushBack(identifier, 'main', commit.id));
    expect(await listMessages(workspace)).toEqual(['Rewritten\n', 'Add files\n']);
  });

  it('runs the commit to which a tag was moved', async () => {
    const identifier = await makeRepository();
    await gitea.call('POST', `/repos/${identifier}/tags`, { tag_name: 'v1', target: 'main' });
    const workspace = await bind(identifier, 'moved', { 'tags-regex': '^v' }, { 'file-triggers-enabled': false });
    await gitea.commit(identifier, 'main', { 'next.tf': '#\n' }, 'Next');
    const move = [
      ['tag', '--force', 'v1', 'origin/main'],
      ['push', '--force', 'origin', 'v1'],
    ];
    await read(identifier, () => gitea.runGit(identifier, move));
    expect(await listMessages(workspace)).toEqual(['Next\n', 'Add files\n']);
  });

  it('runs the newest of 60 commits of a push, of which the first one changes a folder of the workspace', async () => {
    const identifier = await makeRepository();
    const workspace = await bind(identifier, 'many', {}, { 'working-directory': 'network' });
    await gitea.commit(identifier, 'topic', { 'network/main.tf': '#\n' }, 'In the folder');
    const numbers = Array.from({ length: COMMITS_OF_A_PUSH - 1 }, (_, number) => number + 2);
    const commits = numbers.map((number) => ['commit', '--allow-empty', '--message', `Commit ${number}`]);
    const push = [['merge', '--ff-only', 'origin/topic'], ...commits, ['push', 'origin', 'main']];
    await read(identifier, () => gitea.runGit(identifier, push));
    expect(await listMessages(workspace)).toEqual([`Commit ${COMMITS_OF_A_PUSH}\n`, 'Add files\n']);
  });

  it('is read under its old name after it was renamed', async () => {
    const identifier = await makeRepository();
    const workspace = await bind(identifier, 'renamed');
    const name = `new-name-${from}`;
    await read(identifier, async () => {
      const renamed = await gitea.call('PATCH', `/repos/${identifier}`, { name });
      await gitea.commit(renamed.full_name, 'main', { 'next.tf': '#\n' }, 'After the new name');
    });
    expect(await listMessages(workspace)).toEqual(['After the new name\n', 'Add files\n']);
  });

  it('plans no pull request whose branch was deleted, and cancels its plan', async () => {
    const identifier = await makeRepository();
    const workspace = await bind(identifier, 'deleted');
    await gitea.commit(identifier, 'topic', { 'topic.tf': '#\n' }, 'Propose');
    const pull = { head: 'topic', base: 'main', title: 'Topic' };
    let number = 0;
    await read(identifier, async () => {
      ({ number } = await gitea.call('POST', `/repos/${identifier}/pulls`, pull));
    });
    await read(identifier, async () => {
      await gitea.call('DELETE', `/repos/${identifier}/branches/topic`);
      const isClosed = async (): Promise<boolean> =>
        (await gitea.call('GET', `/repos/${identifier}/pulls/${number}`)).state === 'closed';
      await waitUntil(isClosed, 'the end of the pull request');
    });
    const [proposed] = await listRuns(workspace);
    expect(proposed?.attributes).toMatchObject({ message: 'Propose\n', status: 'canceled' });
  });

  it.each([
    ['from right to left', `safe-${RIGHT_TO_LEFT}fdp.evil`],
    ['in other scripts', 'feature/Größe-日本-🚀'],
    ['that are long', 'b'.repeat(200)],
  ])('runs commits of branches with names %s', async (kind, branch) => {
    const identifier = await makeRepository();
    const workspace = await bind(identifier, `named-${kind.replaceAll(' ', '-')}`, { branch });
    const push = [
      ['commit', '--allow-empty', '--message', 'On a branch'],
      ['push', 'origin', `HEAD:refs/heads/${branch}`],
    ];
    await read(identifier, () => gitea.runGit(identifier, push));
    expect(await listMessages(workspace)).toEqual(['On a branch\n']);
  });

  it('gives no configuration with a symbolic link out of its tree', async () => {
    const identifier = await makeRepository();
    const workspace = await bind(identifier, 'linked');
    const push = [
      ['add', '--all'],
      ['commit', '--message', 'Link'],
      ['push', 'origin', 'main'],
    ];
    const link = { path: 'shadow', target: '../../../../etc/shadow' };
    await read(identifier, () => gitea.runGit(identifier, push, link));
    const { data } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/configuration-versions`), 200).body;
    expect(data[0].attributes).toMatchObject({
      status: 'errored',
      'error-message': 'The symbolic link shadow leads out of the repository',
    });
    expect(await listMessages(workspace)).toEqual(['Add files\n']);
  });
});
