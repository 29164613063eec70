import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ScheduledJob } from '#platform/postgres';
import { sql } from '#platform/kernel';
import { createEndedLogsJob, createRunLogs, RUN_FILES, runsDefinition } from '#runs/runs';
import type { TickingClock } from '../../../test/support/clocks.js';
import { waitForFollowers } from '../../../test/support/event-log.js';
import { executorRequests } from '../../../test/support/executors.js';
import { runBetween } from '../../../test/support/interleaving.js';
import { makePlannedChange, makeProviderSchemas } from '../../../test/support/plan-documents.js';
import { getDetail } from '../../../test/support/responses.js';
import { runRequests, startRunSite } from '../../../test/support/runs.js';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import { expectStatus, makeRun } from '../../../test/support/seeds.js';
import type { ApiTestClient, TestServer } from '../../../test/support/server.js';
import { expectViewsMatchLog } from '../../../test/support/views-match-log.js';
import { listStoredEntries } from '../../activity/audit-trail/spec.js';
import { createRetentionJob } from './index.js';
import { deleteOlders, dontDeletes } from './spec.js';

let server: TestServer;
let agents: ApiTestClient;
let pool: string;
let clock: TickingClock;
let job: ScheduledJob;

beforeAll(async () => {
  ({ server, agents, pool, clock } = await startRunSite());
  job = createRetentionJob(server.store, clock, server.runtime.ids, 60_000);
});

afterAll(() => server.close());

const { aWorkspace, act, report, show } = runRequests(() => ({ server, agents }));
const { claim } = executorRequests(() => ({ agents, pool }));

/** Runs the job. Returns how many records have lost their data. */
const deleteOldData = () => runJobOnce(job);

const set = async (workspace: string, policy: object): Promise<void> => {
  const path = `/api/v2/workspaces/${workspace}/relationships/data-retention-policy`;
  expectStatus(await server.post(path, policy), 200);
};

const planOf = (run: string): string => `/api/v2/plans/${run.replace('run-', 'plan-')}`;
const applyOf = (run: string): string => `/api/v2/applies/${run.replace('run-', 'apply-')}`;

const readLink = async (path: string): Promise<string> =>
  expectStatus(await server.get(path), 200).body.data.attributes['log-read-url'] as string;

const DOCUMENTS = ['json-output', 'json-output-redacted', 'json-schema'];

/** Creates a run whose apply has failed, with all kinds of data. */
const makeFailedRun = async (workspace: string): Promise<string> => {
  const run = await makeRun(server, workspace, { 'auto-apply': true });
  await claim();
  expectStatus(await agents.put(`${planOf(run)}/log?offset=0&fence=1`, Buffer.from('planned\n')), 200);
  expectStatus(await agents.put(`${planOf(run)}/json-schema?fence=1`, makeProviderSchemas('aws_a')), 204);
  const changes = {
    format_version: '1.2',
    resource_changes: [makePlannedChange('aws_a.one', { actions: ['create'] })],
  };
  expectStatus(await agents.put(`${planOf(run)}/json-output?fence=1`, changes), 204);
  expectStatus(await report(run, 'planned', { fence: 1, 'has-changes': true }), 200);
  await claim();
  expectStatus(await agents.put(`${applyOf(run)}/log?offset=0&fence=2`, Buffer.from('applied\n')), 200);
  expectStatus(await agents.put(`${applyOf(run)}/errored-state?fence=2`, Buffer.from('{}')), 204);
  expectStatus(await report(run, 'errored', { fence: 2 }), 200);
  return run;
};

const moveLogs = async (): Promise<void> => {
  const logs = createRunLogs(server.store, { ...server.runtime, logLimit: 1 });
  await runJobOnce(createEndedLogsJob(logs));
};

const listFiles = async (run: string): Promise<readonly string[]> => {
  const keys: string[] = [];
  for await (const { key } of server.runtime.blobs.list(`${RUN_FILES}/${run}`)) keys.push(key.split('/').at(-1) ?? '');
  return keys.toSorted();
};

const countChunks = async (run: string): Promise<number> =>
  (await server.database.rows<{ id: string }>(sql`select id from runs.log_chunks where run = ${run}`)).length;

const REASON = 'A data retention policy has deleted the logs and documents of this run';

describe('a data retention policy of 30 days', () => {
  let workspace: string;

  beforeEach(async () => {
    workspace = await aWorkspace();
    await set(workspace, deleteOlders(30));
  });

  it('deletes the data of a run 30 days after its end, and nothing else of the run', async () => {
    const run = await makeFailedRun(workspace);
    await moveLogs();
    expect(await listFiles(run)).toHaveLength(6);
    const before = await show(run);
    const links = [await readLink(planOf(run)), await readLink(applyOf(run))];
    clock.pass({ days: 29 });
    expect(await deleteOldData()).toBe(0);
    clock.pass({ days: 2 });
    expect(await deleteOldData()).toBe(1);
    await waitForFollowers(server.store, 'run_file_sweeper');
    await waitForFollowers(server.store, 'audit_trail');
    expect(await listFiles(run)).toEqual([]);

    const paths = [...DOCUMENTS.map((kind) => `${planOf(run)}/${kind}`), `${applyOf(run)}/errored-state`];
    for (const path of paths) expect(getDetail(expectStatus(await server.get(path), 404))).toBe(REASON);
    const fresh = [await readLink(planOf(run)), await readLink(applyOf(run))];
    for (const link of fresh) {
      const { pathname } = new URL(link);
      expect(getDetail(expectStatus(await server.as(null).get(pathname), 404))).toBe(REASON);
    }
    expect(links.map((link) => new URL(link).origin)).toEqual(fresh.map((link) => new URL(link).origin));
    expect(await show(run)).toEqual(before);
    const { links: ofApply } = expectStatus(await server.get(applyOf(run)), 200).body.data;
    expect(ofApply).toEqual({ self: applyOf(run) });
    const entries = await listStoredEntries(server.database, sql`e.resource_id = ${run}`);
    expect(entries.at(-1)).toMatchObject({
      auth: { type: 'System', accessor_id: 'system', description: 'data retention' },
      resource: { type: 'run', action: 'permanently_delete_backing_data' },
    });
    expect(await deleteOldData()).toBe(0);
  });

  it('deletes a log that has not been moved to a file, and also one that is being moved', async () => {
    const [stored, moving] = [await makeFailedRun(workspace), await makeFailedRun(workspace)];
    clock.pass({ days: 31 });
    const put = server.runtime.blobs.put.bind(server.runtime.blobs);
    const deleted: number[] = [];
    server.runtime.blobs.put = async (key, content) => {
      deleted.push(await deleteOldData());
      await waitForFollowers(server.store, 'run_file_sweeper');
      await put(key, content);
    };
    await moveLogs();
    server.runtime.blobs.put = put;
    expect(deleted[0]).toBe(2);
    for (const run of [stored, moving]) expect([await countChunks(run), await listFiles(run)]).toEqual([0, []]);
  });

  it('keeps the data of a run that has not ended, and of one whose policy changes while the job runs', async () => {
    const waiting = await makeRun(server, workspace);
    await claim();
    expectStatus(await report(waiting, 'planned', { fence: 1, 'has-changes': true }), 200);
    clock.pass({ days: 100 });
    expect(await deleteOldData()).toBe(0);
    expectStatus(await act(waiting, 'discard'), 202);
    clock.pass({ days: 31 });
    runBetween(server.store, () => set(workspace, dontDeletes));
    expect(await deleteOldData()).toBe(0);
    await set(workspace, deleteOlders(30));
    expect(await deleteOldData()).toBe(1);
  });

  it('counts the days of an errored state from its upload, and accepts none afterwards', async () => {
    const run = await makeRun(server, workspace, { 'auto-apply': true });
    await claim();
    expectStatus(await report(run, 'planned', { fence: 1, 'has-changes': true }), 200);
    await claim();
    expectStatus(await report(run, 'errored', { fence: 2 }), 200);
    clock.pass({ days: 20 });
    const upload = (content: string) => agents.put(`${applyOf(run)}/errored-state?fence=2`, Buffer.from(content));
    expectStatus(await upload('{}'), 204);
    clock.pass({ days: 29 });
    expect(await deleteOldData()).toBe(0);
    clock.pass({ days: 2 });
    expect(await deleteOldData()).toBe(1);
    await waitForFollowers(server.store, 'run_file_sweeper');
    expect(getDetail(expectStatus(await upload('{"serial":1}'), 404))).toBe(REASON);
    expect(await listFiles(run)).toEqual([]);
  });
});

describe('the log', () => {
  it('rebuilds to the same views', () => expectViewsMatchLog(server, [runsDefinition]));
});
