import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { GitHosts, type GitHost } from '#vcs/git-hosts';
import { createCommitVersions } from '../runs/index.js';
import { Pauses } from './pauses.service.js';
import { createRepositoryCommitsJob } from './repository-commits.job.js';
import { INSTALL_GITEA_TIMEOUT_MS, startGitea, type Gitea } from '../../../test/support/gitea.js';
import { createConnectionTokens, makeOauthClient, REACHES_GIT_HOSTS } from '../../../test/support/git-host.js';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import { makeOrganization, makeRemotePool, makeWorkspace } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

const WORKSPACES = 1_000;
const MADE_AT_ONCE = 20;

let gitea: Gitea;
let server: TestServer;
let repository: string;

beforeAll(async () => {
  gitea = await startGitea();
  server = await startTestServer({ env: REACHES_GIT_HOSTS });
  await makeOrganization(server, 'acme');
  await makeRemotePool(server, 'acme', 'edge');
  const { token } = await makeOauthClient(server, 'acme', gitea);
  repository = await gitea.makeRepository('monorepo', { 'main.tf': 'terraform {}\n' });
  for (let first = 0; first < WORKSPACES; first += MADE_AT_ONCE) {
    const numbers = Array.from({ length: MADE_AT_ONCE }, (_, n) => first + n);
    await Promise.all(
      numbers.map((number) =>
        makeWorkspace(server, 'acme', `workspace-${number}`, {
          'vcs-repo': { identifier: repository, 'oauth-token-id': token },
          'working-directory': `folder-${number}`,
          'queue-all-runs': true,
        }),
      ),
    );
  }
}, INSTALL_GITEA_TIMEOUT_MS);

afterAll(async () => {
  await server.close();
  await gitea.remove();
});

/** Returns the host, and counts its calls by their names. */
const countCalls = (host: GitHost, calls: Map<string, number>): GitHost =>
  new Proxy(host, {
    get: (target, name, receiver) => {
      const member = Reflect.get(target, name, receiver) as unknown;
      if (typeof member === 'function') calls.set(String(name), (calls.get(String(name)) ?? 0) + 1);
      return member;
    },
  });

it('decides a push for 1,000 workspaces of a repository with one comparison', async () => {
  const { runtime, store, database } = server;
  const calls = new Map<string, number>();
  const hosts = new GitHosts(['127.0.0.1']);
  const job = createRepositoryCommitsJob({
    database,
    tokens: createConnectionTokens(server, hosts),
    hosts: { open: (access) => countCalls(hosts.open(access), calls) },
    versions: createCommitVersions({ ...runtime, ...runtime.settings, store }),
    webhooks: { ensure: async () => undefined, removeUnused: async () => undefined },
    clock: runtime.clock,
    logger: runtime.logger,
    pauses: new Pauses(runtime.clock, runtime.logger, 60_000),
    startDeadline: (ms) => AbortSignal.timeout(ms),
  });
  // Rounds end after their time, and the next one continues.
  const countFollowed = async (): Promise<number> => {
    const rows = await database.rows<{ readonly workspace: string }>(
      sql`select workspace from commits.followed order by workspace`,
    );
    return rows.length;
  };
  while ((await countFollowed()) < WORKSPACES) await runJobOnce(job);
  await gitea.commit(repository, 'main', { 'folder-7/main.tf': '#\n', 'folder-9/main.tf': '#\n' }, 'Two folders');
  calls.clear();
  await runJobOnce(job);
  expect(Object.fromEntries(calls)).toEqual({
    findRepository: 1,
    findHead: 1,
    listChangedFiles: 1,
    listPullRequests: 1,
    getCommit: 1,
  });
  const versions = await database.rows<{ readonly workspace: string }>(sql`
    select w.name as workspace from configuration_versions c join workspaces w on w.id = c.workspace
     where c.ingress ->> 'commitMessage' like 'Two folders%' order by w.name`);
  expect(versions).toEqual([{ workspace: 'workspace-7' }, { workspace: 'workspace-9' }]);
}, 300_000);
