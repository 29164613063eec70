import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import {
  deleteUnchangedRuns,
  listUnreportedRuns,
  storeReportedRuns,
  type UnreportedRun,
} from './commit-statuses.queries.js';
import { waitForFollowers } from '../../../test/support/event-log.js';
import { makeOauthClient, openTestGitHost, REACHES_GIT_HOSTS } from '../../../test/support/git-host.js';
import { captureStatement, planFor, rowsRead } from '../../../test/support/plans.js';
import {
  expectStatus,
  makeConfigurationVersion,
  makeOrganization,
  makeRemotePool,
  makeRun,
  makeWorkspace,
} from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

const ENDED_RUNS = 10_000;
const LONG_AGO = '2000-01-01T00:00:00.000Z';
const TABLES = ['changed_runs', 'reported_runs', 'runs', 'configuration_versions'];

let server: TestServer;
let workspace: string;

beforeAll(async () => {
  server = await startTestServer({ followers: true, env: REACHES_GIT_HOSTS });
  await makeOrganization(server, 'acme');
  await makeRemotePool(server, 'acme', 'edge');
  const { token } = await makeOauthClient(server, 'acme', await openTestGitHost());
  workspace = await makeWorkspace(server, 'acme', 'network');
  const version = await makeConfigurationVersion(server, workspace);
  const ingress = { oauthToken: token, identifier: 'acme/network', commitSha: 'c0ffee' };
  await server.database.rows(sql`
    update configuration_versions set ingress = ${sql.json(ingress)} where id = ${version}`);
});

afterAll(() => server.close());

const list = async (): Promise<readonly UnreportedRun[]> => {
  await waitForFollowers(server.store, 'changed_runs');
  return listUnreportedRuns(server.database, LONG_AGO, [], 10);
};

const report = async (runs: readonly UnreportedRun[]): Promise<void> => {
  await server.database.rows(storeReportedRuns(runs, 'reported', new Date().toISOString()));
  await deleteUnchangedRuns(server.database, LONG_AGO);
};

const listChanged = async (): Promise<readonly string[]> => {
  const rows = await server.database.rows<{ readonly run: string }>(
    sql`select run from commits.changed_runs order by run`,
  );
  return rows.map(({ run }) => run);
};

it('lists a run of a commit after each change of its status, until it is reported', async () => {
  const run = await makeRun(server, workspace);
  const created = await list();
  expect(created).toMatchObject([{ id: run, sha: 'c0ffee' }]);
  await report(created);
  expect([await list(), await listChanged()]).toEqual([[], []]);
  expectStatus(await server.post(`/api/v2/runs/${run}/actions/cancel`), 202);
  const canceled = await list();
  expect(canceled).toMatchObject([{ id: run, status: 'canceled' }]);
  await deleteUnchangedRuns(server.database, LONG_AGO);
  expect(await list()).toEqual(canceled);
  await report(canceled);
  expect(await listChanged()).toEqual([]);
});

it('lists no run of an uploaded configuration', async () => {
  const other = await makeWorkspace(server, 'acme', 'uploaded');
  await makeConfigurationVersion(server, other);
  await makeRun(server, other);
  expect([await list(), await listChanged()]).toEqual([[], []]);
});

it('keeps runs of an organization that wants no statuses, while they are new', async () => {
  const run = await makeRun(server, workspace);
  await list();
  const update = (enabled: boolean): Promise<unknown> =>
    server.database.rows(sql`
      update organizations set settings = settings || ${sql.json({ commitStatusesEnabled: enabled })} where name = 'acme'`);
  await update(false);
  await deleteUnchangedRuns(server.database, LONG_AGO);
  expect([await list(), await listChanged()]).toEqual([[], [run]]);
  await update(true);
  expect(await list()).toMatchObject([{ id: run }]);
  await deleteUnchangedRuns(server.database, '2999-01-01T00:00:00.000Z');
  expect(await listChanged()).toEqual([]);
});

it('reads only the runs that have changed beside 10,000 runs that ended', async () => {
  const run = await makeRun(server, workspace);
  await list();
  await server.database.rows(sql`
    insert into runs
    select (jsonb_populate_record(r, jsonb_build_object('id', r.id || '-' || n, 'status', 'applied'))).*
      from runs r, generate_series(1, ${ENDED_RUNS}::int) n where r.id = ${run}`);
  await server.database.rows(sql`
    insert into commits.reported_runs (run, status, report, reported_at)
    select id, status, 'reported', now() from runs where status = 'applied'`);
  await server.database.rows(sql`analyze`);
  const listed = await captureStatement(server.database, (database) => listUnreportedRuns(database, LONG_AGO, [], 10));
  expect(listed.result).toMatchObject([{ id: run }]);
  expect(rowsRead(await planFor(server.database, listed.statement), TABLES)).toBeLessThan(20);
  const { statement } = await captureStatement(server.database, (database) => deleteUnchangedRuns(database, LONG_AGO));
  expect(rowsRead(await planFor(server.database, statement), TABLES)).toBeLessThan(20);
});
