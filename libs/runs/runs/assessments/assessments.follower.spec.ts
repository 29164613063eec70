import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql, type RecordedEvent } from '#platform/kernel';
import { deriveId } from '#runs/runs';
import { startAssessment } from '../../../../test/support/assessments.js';
import { runRequests } from '../../../../test/support/runs.js';
import {
  expectStatus,
  makeAgentToken,
  makeOrganization,
  makeRemotePool,
  makeRun,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { assessmentsFollower } from './assessments.follower.js';

let server: TestServer;
let agents: ApiTestClient;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
});

afterAll(() => server.close());

const { aWorkspace, act, report, reported, statusOf } = runRequests(() => ({ server, agents }));

/** Starts an assessment of the workspace, which an executor plans. */
const plan = async (workspace: string, number = 0): Promise<string> => {
  const id = deriveId('run', `${workspace} ${number}`);
  await startAssessment(server.store, workspace, id);
  await reported(id, 'planning');
  return id;
};

/** Passes an event of each run to the follower, which uses this store. */
const follow = async (type: string, runs: readonly string[], store = server.store): Promise<void> => {
  const { database } = server;
  const events = runs.map((stream) => ({
    id: deriveId('evt', stream),
    type,
    stream,
    time: '2026-11-30T00:00:00.000Z',
    context: { correlation: stream },
  }));
  const session = { run: (statement: Parameters<typeof database.rows>[0]) => database.rows(statement) };
  await assessmentsFollower.follow(events as unknown as RecordedEvent[], session as never, store);
};

const hasResult = async (run: string): Promise<boolean> =>
  (await server.get(`/api/v2/assessment-results/${run.replace('run-', 'asmtres-')}`)).status === 200;

it('records and cancels the other assessments if the result of one cannot be recorded', async () => {
  const [broken, planned, busy] = [await aWorkspace(), await aWorkspace(), await aWorkspace()];
  const ended = [await plan(broken), await plan(planned)] as const;
  for (const id of ended) expectStatus(await report(id, 'planned', { 'resources-drifted': 0 }), 200);
  const overtaken = deriveId('run', busy);
  await startAssessment(server.store, busy, overtaken);
  const run = await makeRun(server, busy);
  const failing = Object.create(server.store) as typeof server.store;
  failing.append = (writes, ...rest) =>
    writes.some(({ stream }) => stream === ended[0].replace('run-', 'asmtres-'))
      ? Promise.reject(new Error('broken'))
      : server.store.append(writes, ...rest);
  await follow('RunPlannedAndFinished', [...ended, run], failing);
  expect(await Promise.all(ended.map(hasResult))).toEqual([false, true]);
  expect(await statusOf(overtaken)).toBe('canceled');
  await follow('RunPlannedAndFinished', ended);
  expect(await hasResult(ended[0])).toBe(true);
});

it('deletes the logs and documents of canceled assessments, and keeps those of five with a result', async () => {
  const id = await aWorkspace();
  const ended: string[] = [];
  for (let number = 0; number < 6; number += 1) {
    const run = await plan(id, number);
    expectStatus(await report(run, 'planned', { 'resources-drifted': 0 }), 200);
    await follow('RunPlannedAndFinished', [run]);
    ended.push(run);
    const canceled = await plan(id, number + 100);
    expectStatus(await act(canceled, 'cancel'), 202);
    await reported(canceled, 'canceled');
    await follow('RunCanceled', [canceled]);
    expect(await hasResult(canceled)).toBe(false);
  }
  const undeleted = await server.database.rows<{ id: string }>(
    sql`select id from runs where workspace = ${id} and data_deleted_at is null`,
  );
  expect(undeleted.map((run) => run.id).toSorted()).toEqual(ended.slice(1).toSorted());
});
