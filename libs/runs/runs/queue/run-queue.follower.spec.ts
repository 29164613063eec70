import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  expectStatus,
  makeConfigurationVersion,
  makeOrganization,
  makeRun,
  makeWorkspace,
} from '../../../../test/support/seeds.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { runQueueFollower } from './run-queue.follower.js';

/** The spec runs the follower itself, so the server runs none. */
let server: TestServer;
let workspace: string;

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
  workspace = await makeWorkspace(server, 'acme', 'one');
  await makeConfigurationVersion(server, workspace);
});

afterAll(() => server.close());

const lock = (action: string) => server.post(`/api/v2/workspaces/${workspace}/actions/${action}`);
const statusOf = async (run: string): Promise<string> =>
  expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data.attributes.status as string;

const follow = async (): Promise<void> => {
  const session = { run: server.database.rows.bind(server.database) };
  expect(await runQueueFollower.follow(await readWholeLog(server.store), session, server.store)).toEqual([]);
};

it('starts the first waiting run once, even if it gets the same event again, and no other run overtakes it', async () => {
  expectStatus(await lock('lock'), 200);
  const first = await makeRun(server, workspace);
  expectStatus(await lock('unlock'), 200);
  const second = await makeRun(server, workspace);
  expect([await statusOf(first), await statusOf(second)]).toEqual(['pending', 'pending']);
  await follow();
  await follow();
  expect([await statusOf(first), await statusOf(second)]).toEqual(['plan_queued', 'pending']);
  const [, queued, ...more] = await server.store.log.stream(first);
  expect([queued?.type, more]).toEqual(['RunQueued', []]);
  // The event that made the follower start the run.
  const unlocked = (await readWholeLog(server.store)).find(({ type }) => type === 'WorkspaceUnlocked');
  expect(queued?.context).toMatchObject({ auth: 'System', causation: unlocked?.id });
  expect([unlocked?.stream, queued?.organization]).toEqual([workspace, unlocked?.organization]);
  expectStatus(await server.post(`/api/v2/runs/${first}/actions/cancel`), 202);
  await follow();
  expect(await statusOf(second)).toBe('plan_queued');
  expectStatus(await server.post(`/api/v2/runs/${second}/actions/cancel`), 202);
});

it('leaves a run in the queue if a user has locked its workspace first', async () => {
  expectStatus(await lock('lock'), 200);
  const run = await makeRun(server, workspace);
  const late = { run: () => Promise.resolve([{ id: run, cause: run }] as never[]) };
  await runQueueFollower.follow(await readWholeLog(server.store), late, server.store);
  expect(await statusOf(run)).toBe('pending');
  expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
  await runQueueFollower.follow(await readWholeLog(server.store), late, server.store);
  expect((await server.get(`/api/v2/runs/${run}`)).status).toBe(404);
});
