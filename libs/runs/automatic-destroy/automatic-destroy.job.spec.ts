import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
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
  makeRun,
  makeWorkspace,
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

const createJob = (store: EventStore = server.store) =>
  createAutomaticDestroyJob({ ...server.runtime, store, clock, releases: new ToolReleases() });
/** Returns a store that does something before each append, such as what another process does in the meantime. */
const beforeAppend = (act: (writes: Parameters<EventStore['append']>[0]) => Promise<void>): EventStore => {
  const append: EventStore['append'] = async (writes, ...rest) => {
    await act(writes);
    return server.store.append(writes, ...rest);
  };
  return Object.assign(Object.create(server.store) as EventStore, { append });
};
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
/** Runs the job, lets the hours pass, and runs it again. */
const runAfter = async (hours: number): Promise<void> => {
  await runJob();
  pass(hours);
  await runJob();
};
const statusesOf = async (id: string): Promise<string[]> =>
  (await runsOf(id)).map(({ attributes }) => attributes.status);

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
    pass(24);
    await runJob();
    pass(24);
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
    const at = later(48);
    const id = await aWorkspaceWithResources({ 'auto-destroy-at': at });
    const triggers = ['workspace:auto_destroy_reminder', 'workspace:auto_destroy_run_results', 'run:errored'];
    const settings = { url: receiver.url, enabled: true, triggers };
    const configuration = await makeNotificationConfiguration(server, `workspaces/${id}`, 'ops', settings);
    const listSent = async (): Promise<unknown[]> => {
      await waitForFollowers(server.store, 'notifications');
      const rows = await server.database.rows<{ trigger: string; name: string; detail: string | null }>(sql`
        select trigger, subject #>> '{workspace,name}' as name,
               coalesce(subject ->> 'status', subject ->> 'destroyedFrom') as detail
          from notifications.deliveries where configuration = ${configuration} and trigger <> 'verification'
         order by created_at, trigger`);
      return rows.map(({ trigger, name, detail }) => [trigger, name.startsWith('ws-'), detail]);
    };
    const reminder = ['workspace:auto_destroy_reminder', true, at];
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
    await runAfter(11);
    expect([await runsOf(id), await remindersOf(id)]).toEqual([[], [12]]);
    await runAfter(1);
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

  it('gets no run while it is locked, and none later than a day after its time', async () => {
    const [id, forgotten] = [
      await aWorkspaceWithResources({ 'auto-destroy-at': later(12) }),
      await aWorkspaceWithResources({ 'auto-destroy-at': later(12) }),
    ];
    await action(id, 'lock');
    await action(forgotten, 'lock');
    await runAfter(12);
    expect([await runsOf(id), await runsOf(forgotten)]).toEqual([[], []]);
    await action(id, 'unlock');
    await runJob();
    expect(await statusesOf(id)).toEqual(['plan_queued']);
    pass(24);
    await action(forgotten, 'unlock');
    await runJob();
    expect(await runsOf(forgotten)).toEqual([]);
  });

  it('gets no run while another run is open', async () => {
    const id = await aWorkspaceWithResources({ 'auto-destroy-at': later(12) });
    await runJob();
    const run = await makeRun(server, id);
    await queueCaughtUp();
    await runAfter(12);
    expect(await runsOf(id)).toHaveLength(1);
    await reported(run, 'planning', 'errored');
    await queueCaughtUp();
    await runJob();
    expect(await statusesOf(id)).toEqual(['plan_queued', 'errored']);
  });

  it('is destroyed 12 hours after the first reminder, if the time was set later than that', async () => {
    const [soon, past] = [
      await aWorkspaceWithResources({ 'auto-destroy-at': later(1) }),
      await aWorkspaceWithResources({ 'auto-destroy-at': later(-23) }),
    ];
    const earliest = later(12);
    await runAfter(11);
    expect([await runsOf(soon), await runsOf(past)]).toEqual([[], []]);
    expect([await remindersOf(soon), await remindersOf(past)]).toEqual([[12], [12]]);
    const reminders = (await readWholeLog(server.store)).filter(
      ({ type, data }) =>
        type === 'AutoDestroyReminded' && [soon, past].includes((data as { workspace: string }).workspace),
    );
    expect(reminders.map(({ data }) => (data as { earliest: string }).earliest)).toEqual([earliest, earliest]);
    await runAfter(1);
    expect([await statusesOf(soon), await statusesOf(past)]).toEqual([['plan_queued'], ['plan_queued']]);
  });

  it('needs a reminder of its own for each time', async () => {
    const id = await aWorkspaceWithResources({ 'auto-destroy-at': later(24) });
    await runAfter(12);
    await set(id, { 'auto-destroy-at': later(1) });
    await runAfter(11);
    expect(await runsOf(id)).toEqual([]);
    await runAfter(1);
    expect(await runsOf(id)).toHaveLength(1);
  });

  it.each([
    ['postpones the time', () => ({ 'auto-destroy-at': later(100) })],
    ['forbids destroy plans', () => ({ 'allow-destroy-plan': false })],
  ])('keeps what a person changes while the run is created: %s', async (_, change) => {
    const id = await aWorkspaceWithResources({ 'auto-destroy-at': later(12) });
    await runAfter(12 - 1);
    pass(1);
    const attributes = change();
    let isChanged = false;
    const store = beforeAppend(async (writes) => {
      if (isChanged || !writes.some(({ stream }) => stream === id)) return;
      isChanged = true;
      await set(id, attributes);
    });
    await runJobOnce(createJob(store));
    expect(isChanged).toBe(true);
    expect([await runsOf(id), await read(id)]).toMatchObject([[], attributes]);
  });

  it('counts what a person changes in the project while the run is created', async () => {
    const project = await makeProject(server, 'acme', 'changed');
    const setDuration = async (duration: string): Promise<void> => {
      const body = resource('projects', { 'auto-destroy-activity-duration': duration });
      expectStatus(await server.patch(`/api/v2/projects/${project}`, body), 200);
    };
    await setDuration('12h');
    const id = await aWorkspaceWithResources({}, { project: { data: { type: 'projects', id: project } } });
    await runJob();
    pass(12);
    let isChanged = false;
    const store = beforeAppend(async (writes) => {
      if (isChanged || !writes.some(({ stream }) => stream === id)) return;
      isChanged = true;
      await setDuration('14d');
    });
    await runJobOnce(createJob(store));
    expect([isChanged, await runsOf(id)]).toEqual([true, []]);
  });

  it('is not destroyed twice for the same state, and inherits after the run as before', async () => {
    const project = await makeProject(server, 'acme', 'inherited');
    const duration = resource('projects', { 'auto-destroy-activity-duration': '1h' });
    expectStatus(await server.patch(`/api/v2/projects/${project}`, duration), 200);
    const inProject = { project: { data: { type: 'projects', id: project } } };
    const id = await aWorkspaceWithResources({ 'auto-destroy-at': later(12) }, inProject);
    await runAfter(12);
    const [run] = await runsOf(id);
    await reported(run.id, 'planning', 'errored');
    await queueCaughtUp();
    expect(await read(id)).toMatchObject({ 'auto-destroy-at': null, 'inherits-project-auto-destroy': false });
    await set(id, { 'inherits-project-auto-destroy': true });
    for (let round = 0; round < 3; round += 1) await runAfter(12);
    expect(await statusesOf(id)).toEqual(['errored']);
  });

  it('is destroyed at the later of its time and its duration', async () => {
    const id = await aWorkspaceWithResources({ 'auto-destroy-activity-duration': '2d', 'auto-destroy-at': later(24) });
    expect((await read(id))['auto-destroy-at']).toBe(later(48));
    await runAfter(24);
    expect(await runsOf(id)).toEqual([]);
    await runAfter(24);
    expect([await runsOf(id), (await read(id))['auto-destroy-activity-duration']]).toMatchObject([[{}], '2d']);
  });

  it('gets a reminder only if it would be destroyed', async () => {
    const withoutConfiguration = await makeWorkspace(server, 'acme', 'bare', { 'auto-destroy-at': later(12) });
    await storeState(withoutConfiguration, 1, 1);
    const local = await aWorkspaceWithResources({ 'auto-destroy-at': later(12), 'execution-mode': 'local' });
    const empty = await aWorkspace({ 'auto-destroy-at': later(12) });
    await runJob();
    const reminders = [withoutConfiguration, local, empty].map(remindersOf);
    expect(await Promise.all(reminders)).toEqual([[], [], []]);
  });

  it('does not prevent the destroy of others if its own fails', async () => {
    const [broken, other] = [
      await aWorkspaceWithResources({ 'auto-destroy-at': later(12) }),
      await aWorkspaceWithResources({ 'auto-destroy-at': later(13) }),
    ];
    await runJob();
    pass(13);
    const store = beforeAppend((writes) =>
      writes.some(({ stream }) => stream === broken) ? Promise.reject(new Error('no space left')) : Promise.resolve(),
    );
    await expect(runJobOnce(createJob(store))).rejects.toThrow('Automatic destroys failed: 1');
    expect([await runsOf(broken), await runsOf(other)]).toMatchObject([[], [{}]]);
  });

  it('is recovered without the columns that it had not when it was deleted', async () => {
    const id = await aWorkspaceWithResources({ 'auto-destroy-activity-duration': '1h' });
    expectStatus(await server.delete(`/api/v2/workspaces/${id}`), 204);
    await server.database.rows(sql`
      update views.deleted_workspaces set contents = contents - 'has_destroy_time' - 'state_changed_at' where id = ${id}`);
    expectStatus(await server.post(`/api/v2/recoverable-items/${id}/actions/recover`), 200);
    await runAfter(12);
    expect(await runsOf(id)).toEqual([]);
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
    await setDuration(short, '24h');
    await setDuration(long, '48h');
    const inProject = (project: string) => ({ project: { data: { type: 'projects', id: project } } });
    const id = await aWorkspaceWithResources({}, inProject(short));
    const own = await aWorkspaceWithResources({ 'auto-destroy-activity-duration': '20d' }, inProject(short));
    expect([await read(id), await read(own)].map((attributes) => attributes['auto-destroy-at'])).toEqual([
      later(24),
      later(20 * 24),
    ]);
    await runJob();
    expectStatus(await server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', {}, inProject(long))), 200);
    await runAfter(24);
    expect([await runsOf(id), await runsOf(own)]).toEqual([[], []]);
    await runAfter(24);
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
