import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import type { CommitVersions } from './commit-versions.service.js';
import { createCommitVersions } from '../runs.module.js';
import { makeOauthClient, openTestGitHost, REACHES_GIT_HOSTS } from '../../../../test/support/git-host.js';
import { expectStatus, makeOrganization, makeWorkspace, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';

let server: TestServer;
let versions: CommitVersions;

beforeAll(async () => {
  server = await startTestServer({ env: REACHES_GIT_HOSTS });
  await makeOrganization(server, 'acme');
  const { runtime, store } = server;
  versions = createCommitVersions({ ...runtime, store, toolReleases: runtime.settings.toolReleases });
});

afterAll(() => server.close());

const createCommits = async (
  workspace: string,
  oauthToken: string,
  shas: readonly string[],
  serviceProvider = 'gitea',
): Promise<void> => {
  for (const commitSha of shas) {
    await versions.create(workspace, {
      serviceProvider,
      apiUrl: 'https://git.example.com/api/v1',
      startsRun: false,
      attempt: 1,
      ingress: {
        identifier: 'acme/network',
        branch: 'main',
        tag: null,
        onDefaultBranch: true,
        commitSha,
        commitMessage: 'Add a subnet',
        commitUrl: 'https://git.example.com/acme/network/commit/1',
        cloneUrl: 'https://git.example.com/acme/network.git',
        senderUsername: null,
        pullRequest: null,
        oauthToken,
      },
    });
  }
};

const listUnfetched = async (
  most: number,
  paused: readonly string[] = [],
  withSubmodules = false,
): Promise<readonly (string | null)[][]> =>
  (await versions.listUnfetched(most, paused, withSubmodules)).map(({ token, sha }) => [token, sha]);

it('lists commits in turn by connection, without paused ones and without connections of other projects', async () => {
  const host = await openTestGitHost();
  const busy = await makeOauthClient(server, 'acme', host, 'busy');
  const idle = await makeOauthClient(server, 'acme', host, 'idle');
  const workspace = await makeWorkspace(server, 'acme', 'network');
  await createCommits(workspace, busy.token, ['a', 'b', 'c']);
  await createCommits(workspace, idle.token, ['d']);
  expect(await listUnfetched(2)).toEqual([
    [busy.token, 'a'],
    [idle.token, 'd'],
  ]);
  expect(
    await listUnfetched(9, [idle.token, `${busy.token} acme/network b false`, `${busy.token} acme/network c true`]),
  ).toEqual([
    [busy.token, 'a'],
    [busy.token, 'c'],
  ]);
  const narrow = resource('oauth-clients', { 'organization-scoped': false });
  expectStatus(await server.patch(`/api/v2/oauth-clients/${idle.client}`, narrow), 200);
  expect(await listUnfetched(9, [busy.token])).toEqual([[null, 'd']]);
  await server.database.rows(sql`
    update workspaces set settings = settings || ${sql.json({ vcsRepo: { ingressSubmodules: true } })} where id = ${workspace}`);
  expect(await listUnfetched(9)).toEqual([]);
  expect(
    await listUnfetched(9, [`${busy.token} acme/network b true`, `${busy.token} acme/network c false`], true),
  ).toEqual([
    [busy.token, 'a'],
    [null, 'd'],
    [busy.token, 'c'],
  ]);
  const paused = `submodules ${busy.token} acme/network`;
  expect(await listUnfetched(9, [paused], true)).toEqual([[null, 'd']]);
});

it.each([
  ['github', 'github'],
  ['github_enterprise', 'github'],
  ['gitlab_community_edition', 'gitlab'],
  ['forgejo', 'forgejo'],
])('names the kind of the Git host %s as the source: %s', async (provider, source) => {
  const workspace = await makeWorkspace(server, 'acme', `of-${provider.replaceAll('_', '-')}`);
  await createCommits(workspace, 'ot-1', ['a'], provider);
  const path = `/api/v2/workspaces/${workspace}/configuration-versions`;
  const [version] = expectStatus(await server.get(path), 200).body.data;
  expect(version.attributes.source).toBe(source);
});
