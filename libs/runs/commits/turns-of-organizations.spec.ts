import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { listCommentedPullRequests, listMissedPullRequests } from './pull-request-comments.queries.js';
import { listUntriggeredPlans } from './untriggered-plans.queries.js';
import { makeOauthClient, openTestGitHost, REACHES_GIT_HOSTS } from '../../../test/support/git-host.js';
import {
  makeConfigurationVersion,
  makeOrganization,
  makeRemotePool,
  makeRun,
  makeWorkspace,
} from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

const LONG_AGO = '2000-01-01T00:00:00.000Z';
const IDENTIFIER = 'acme/network';

let server: TestServer;

/** Creates a workspace with a plan of a pull request, and with a commit that starts no plan, over a connection of its own. */
const seed = async (organization: string, name: string): Promise<void> => {
  const { token } = await makeOauthClient(server, organization, await openTestGitHost());
  const workspace = await makeWorkspace(server, organization, name);
  const version = await makeConfigurationVersion(server, workspace);
  await makeRun(server, workspace);
  const ingress = { oauthToken: token, identifier: IDENTIFIER, commitSha: 'c0ffee', pullRequest: { number: 7 } };
  const pullRequests = { 7: { sha: 'c0ffee', baseBranch: 'main', attempt: 1, isOpen: true } };
  const { database } = server;
  await database.rows(sql`update configuration_versions set ingress = ${sql.json(ingress)} where id = ${version}`);
  await database.rows(
    sql`update workspaces set vcs_token = ${token}, vcs_repository = ${IDENTIFIER} where id = ${workspace}`,
  );
  await database.rows(sql`
    insert into commits.followed (workspace, source, pull_requests, read_at)
    values (${workspace}, 'source', ${sql.json(pullRequests)}, now())`);
  await database.rows(sql`
    insert into commits.untriggered_plans (workspace, identifier, sha, decided_at)
    values (${workspace}, ${IDENTIFIER}, 'decaf', ${LONG_AGO})`);
};

beforeAll(async () => {
  server = await startTestServer({ env: REACHES_GIT_HOSTS });
  for (const organization of ['many', 'one']) {
    await makeOrganization(server, organization);
    await makeRemotePool(server, organization, `edge-${organization}`);
  }
  const settings = {
    pullRequestCommentsEnabled: true,
    aggregatedCommitStatusEnabled: false,
    sendPassingStatusesForUntriggeredSpeculativePlans: true,
  };
  await server.database.rows(sql`update organizations set settings = settings || ${sql.json(settings)}`);
  for (const number of [1, 2, 3, 4]) await seed('many', `many-${number}`);
  await seed('one', 'one');
});

afterAll(() => server.close());

const countByOrganization = (rows: readonly { readonly organizationName: string }[]): object =>
  Object.fromEntries(
    [...Map.groupBy(rows, ({ organizationName }) => organizationName)].map(([name, { length }]) => [name, length]),
  );

it('lists comments of each organization in turn, however many connections one has', async () => {
  await listMissedPullRequests(server.database, LONG_AGO);
  const later = '2999-01-01T00:00:00.000Z';
  const list = (most: number) =>
    listCommentedPullRequests(server.database, { since: LONG_AGO, writtenBefore: later, now: later }, [], most);
  expect(countByOrganization(await list(2))).toEqual({ many: 1, one: 1 });
  expect(countByOrganization(await list(10))).toEqual({ many: 4, one: 1 });
});

it('lists commits without a plan of each organization in turn, however many connections one has', async () => {
  const list = (most: number) => listUntriggeredPlans(server.database, [], most);
  expect(countByOrganization(await list(2))).toEqual({ many: 1, one: 1 });
  expect(countByOrganization(await list(10))).toEqual({ many: 4, one: 1 });
});
