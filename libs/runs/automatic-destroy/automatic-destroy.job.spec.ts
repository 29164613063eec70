import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { ToolReleases, type WorkspaceEvent } from '#workspaces/workspaces';
import { FixedClock } from '../../../test/support/clocks.js';
import { readWholeLog, waitForFollowers } from '../../../test/support/event-log.js';
import {
  makeNotificationConfiguration,
  REACHES_RECEIVERS,
  startReceiver,
  type NotificationReceiver,
} from '../../../test/support/notification-receiver.js';
import { runRequests } from '../../../test/support/runs.js';
import { runJobOnce } from '../../../test/support/scheduled-jobs.js';
import {
  expectStatus,
  makeAgentToken,
  makeOrganization,
  makeProject,
  makeRemotePool,
  resource,
} from '../../../test/support/seeds.js';
import { newStateVersion, stateFile } from '../../../test/support/state-file.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../test/support/server.js';
import { createAutomaticDestroyJob } from './index.js';

let server: TestServer;
let agents: ApiTestClient;
let clock: FixedClock;
let receiver: NotificationReceiver;

const HOUR_MS = 60 * 60 * 1_000;

beforeAll(async () => {
  clock = new FixedClock();
  receiver = await startReceiver();
  server = await startTestServer({ clock, followers: true, env: REACHES_RECEIVERS });
  await makeOrganization(server, 'acme');
  agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
});

afterAll(async () => {
  await server.close();
  await receiver.close();
});

const { aWorkspace, reported, queueCaughtUp } = runRequests(() => ({ server, agents }));

const createJob = () => createAutomaticDestroyJob({ ...server.runtime, clock, releases: new ToolReleases() });
const runJob = async (): Promise<void> => {
  await runJobOnce(createJob());
  await queueCaughtUp();
};

const set = async (id: string, attributes: object): Promise<void> => {
  expectStatus(await server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', attributes)), 200);
};
const read = async (id: string): Promise<any> =>
  expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data.attributes;
const action = async (id: string, name: string): Promise<void> => {
  expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/${name}`), 200);
};
const runsOf = async (id: string): Promise<any[]> =>
  expectStatus(await server.get(`/api/v2/workspaces/${id}/runs`), 200).body.data;

/** Stores a state with a resource, or without one. */
const storeState = async (id: string, serial: number, resources: number): Promise<void> => {
  await action(id, 'lock');
  const file = stateFile({ serial, lineage: `of ${id}`, names: resources === 1 ? ['it'] : [] });
  expectStatus(
    await server.post(`/api/v2/workspaces/${id}/state-versions`, newStateVersion(file, { inline: true })),
    201,
  );
  await action(id, 'unlock');
};

const aWorkspaceWithResources = async (attributes: object = {}, relationships?: object): Promise<string> => {
  const id = await aWorkspace(attributes, relationships);
  await storeState(id, 1, 1);
  return id;
};

const later = (hours: number): string => new Date(clock.now().getTime() + hours * HOUR_MS).toISOString();
const pass = (hours: number): void => void clock.pass({ minutes: hours * 60 });

const remindersOf = async (id: string): Promise<unknown[]> =>
  (await readWholeLog(server.store)).flatMap(({ type, data }) => {
    const { workspace, hours } = data as { workspace?: string; hours?: number };
    return type === 'AutoDestroyReminded' && workspace === id ? [hours] : [];
  });

describe('a workspace with a time', () => {
  it('gets one destroy run without a confirmation, also from several processes, and the time is cleared', async () => {
    const at = later(48);
    const id = await aWorkspaceWithResources({ 'auto-destroy-at': at });
    await runJob();
    expect([await runsOf(id), await remindersOf(id)]).toEqual([[], []]);
    pass(48);
    await Promise.all([createJob(), createJob(), createJob()].map(runJobOnce));
    await runJob();
    const [run, ...more] = await runsOf(id);
    expect(more).toEqual([]);
    expect(run.attributes).toMatchObject({
      'is-destroy': true,
      'auto-apply': true,
      source: 'tfe-infrastructure-lifecycle',
      status: 'plan_queued',
      message: `Automatic destroy, planned for ${at}`,
    });
    expect((await read(id))['auto-destroy-at']).toBeNull();
  });

  it('sends reminders 24 and 12 hours before, each once, and the result of the run', async () => {
    const id = await aWorkspaceWithResources({ 'auto-destroy-at': later(48) });
    const triggers = ['workspace:auto_destroy_reminder', 'workspace:auto_destroy_run_results', 'run:errored'];
    const settings = { url: receiver.url, enabled: true, triggers };
    const configuration = await makeNotificationConfiguration(server, `workspaces/${id}`, 'ops', settings);
    const listSent = async (): Promise<unknown[]> => {
      await waitForFollowers(server.store, 'notifications');
      const rows = await server.database.rows<{ trigger: string; name: string; status: string | null }>(sql`
        select trigger, subject #>> '{workspace,name}' as name, subject ->> 'status' as status
          from notifications.deliveries where configuration = ${configuration} and trigger <> 'verification'
         order by created_at, trigger`);
      return rows.map(({ trigger, name, status }) => [trigger, name.startsWith('ws-'), status]);
    };
    const reminder = ['workspace:auto_destroy_reminder', true, null];
    for (const [hours, expected] of [
      [23, []],
      [1, [24]],
      [11, [24]],
      [1, [24, 12]],
    ] as const) {
      pass(hours);
      await Promise.all([createJob(), createJob()].map(runJobOnce));
      expect(await remindersOf(id)).toEqual(expected);
      expect(await listSent()).toEqual(expected.map(() => reminder));
    }
    pass(12);
    await runJob();
    const [run] = await runsOf(id);
    await reported(run.id, 'planning', 'errored');
    expect(await listSent()).toEqual([
      reminder,
      reminder,
      ['run:errored', true, 'errored'],
      ['workspace:auto_destroy_run_results', true, 'errored'],
    ]);
  });

  it('is not destroyed while destroy plans are not allowed, and says so', async () => {
    const id = await aWorkspaceWithResources({ 'auto-destroy-at': later(6), 'allow-destroy-plan': false });
    expect((await read(id))['auto-destroy-status']).toBe('blocked');
    pass(6);
    await runJob();
    expect([await runsOf(id), await remindersOf(id)]).toEqual([[], []]);
    await set(id, { 'allow-destroy-plan': true });
    expect((await read(id))['auto-destroy-status']).toBeNull();
    await runJob();
    expect(await runsOf(id)).toHaveLength(1);
  });

  it('is not destroyed without resources, or if the time passed more than a day ago', async () => {
    const [empty, late] = [await aWorkspace(), await aWorkspaceWithResources()];
    const past = later(-25);
    await set(empty, { 'auto-destroy-at': later(-1) });
    await set(late, { 'auto-destroy-at': past });
    await runJob();
    expect([await runsOf(empty), await runsOf(late)]).toEqual([[], []]);
    expect((await read(late))['auto-destroy-at']).toBe(past);
  });

  it('waits while the workspace is locked', async () => {
    const id = await aWorkspaceWithResources({ 'auto-destroy-at': later(1) });
    await action(id, 'lock');
    pass(1);
    await runJob();
    expect((await runsOf(id)).map(({ attributes }) => attributes.status)).toEqual(['pending']);
    await action(id, 'unlock');
    await queueCaughtUp();
    expect((await runsOf(id)).map(({ attributes }) => attributes.status)).toEqual(['plan_queued']);
  });
});

describe('a workspace with a duration', () => {
  it('is destroyed when its state has not changed for that time, in a month of states', async () => {
    const id = await aWorkspaceWithResources({ 'auto-destroy-activity-duration': '7d' });
    expect((await read(id))['auto-destroy-at']).toBe(later(7 * 24));
    for (let serial = 2; serial <= 5; serial += 1) {
      for (let day = 0; day < 5; day += 1) {
        pass(24);
        await runJob();
      }
      await storeState(id, serial, 1);
    }
    expect(await runsOf(id)).toEqual([]);
    for (let day = 0; day < 8; day += 1) {
      pass(24);
      await runJob();
    }
    const [run, ...more] = await runsOf(id);
    expect([run.attributes['is-destroy'], more]).toEqual([true, []]);
    expect(await remindersOf(id)).toEqual([24]);
    await reported(run.id, 'planning', 'planned', 'applying', 'applied');
    await storeState(id, 6, 0);
    expect(await read(id)).toMatchObject({ 'auto-destroy-at': null, 'auto-destroy-activity-duration': '7d' });
    pass(30 * 24);
    await runJob();
    expect(await runsOf(id)).toHaveLength(1);
  });

  it('inherits the duration of its project, and takes that of another project after a move', async () => {
    const [short, long] = [await makeProject(server, 'acme', 'short'), await makeProject(server, 'acme', 'long')];
    const setDuration = async (project: string, duration: string): Promise<void> => {
      const body = resource('projects', { 'auto-destroy-activity-duration': duration });
      expectStatus(await server.patch(`/api/v2/projects/${project}`, body), 200);
    };
    await setDuration(short, '2h');
    await setDuration(long, '10h');
    const inProject = (project: string) => ({ project: { data: { type: 'projects', id: project } } });
    const id = await aWorkspaceWithResources({}, inProject(short));
    const own = await aWorkspaceWithResources({ 'auto-destroy-activity-duration': '20h' }, inProject(short));
    expect([await read(id), await read(own)].map((attributes) => attributes['auto-destroy-at'])).toEqual([
      later(2),
      later(20),
    ]);
    expectStatus(await server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', {}, inProject(long))), 200);
    pass(2);
    await runJob();
    expect([await runsOf(id), await runsOf(own)]).toEqual([[], []]);
    pass(8);
    await runJob();
    expect([(await runsOf(id)).length, await runsOf(own)]).toEqual([1, []]);
  });
});

it('records what the job changes as the server itself', async () => {
  await waitForFollowers(server.store, 'audit_trail');
  const events = (await readWholeLog(server.store)).filter(
    ({ context }) => context.accessor.name === 'automatic destroy',
  );
  const types = new Set(events.map(({ type }) => type));
  expect(types).toEqual(
    new Set<string>(['RunCreated', 'AutoDestroyReminded', 'WorkspaceUpdated' satisfies WorkspaceEvent['type']]),
  );
});
