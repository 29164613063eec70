import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql, type Sql } from '#platform/kernel';
import { createOutboundFetch, PrivateHosts, type OutboundFetch } from '#platform/outbound';
import { TickingClock } from '../../../../test/support/clocks.js';
import { readWholeLog, waitForFollowers } from '../../../../test/support/event-log.js';
import {
  makeNotificationConfiguration,
  REACHES_RECEIVERS,
  startReceiver,
  type NotificationReceiver,
} from '../../../../test/support/notification-receiver.js';
import { waitUntil } from '../../../../test/support/product.js';
import { runRequests } from '../../../../test/support/runs.js';
import { runJobOnce } from '../../../../test/support/scheduled-jobs.js';
import {
  expectStatus,
  makeAgentToken,
  makeOrganization,
  makeRemotePool,
  makeRun,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../../../../test/support/server.js';
import { createDestinationFetch, createNotificationDeliveriesJob, createNotificationRetentionJob } from '../index.js';
import type { DeliveryLimits } from './due-deliveries.queries.js';
import { createNotificationsFollower } from './notifications.follower.js';

const TOKEN = 'key-of-the-signature';
const TIMEOUT_MS = 300;

let server: TestServer;
let clock: TickingClock;
let agents: ApiTestClient;
let receiver: NotificationReceiver;
/** Has another host than the receiver. */
let other: NotificationReceiver;
const { aWorkspace, reported, act } = runRequests(() => ({ server, agents }));

beforeAll(async () => {
  [receiver, other] = [await startReceiver(), await startReceiver('127.0.0.2')];
  clock = new TickingClock();
  server = await startTestServer({ clock, followers: true, env: REACHES_RECEIVERS });
  await makeOrganization(server, 'acme');
  agents = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'edge')));
});
beforeEach(() => {
  receiver.reset();
  other.reset();
});
afterEach(async () => {
  await server.database.transaction([sql`delete from notifications.deliveries`]);
});
afterAll(async () => {
  await server.close();
  await receiver.close();
  await other.close();
});

const toReachable = createDestinationFetch(['127.0.0.0/8']);
const withShortTimeout = createOutboundFetch({
  privateHosts: new PrivateHosts(['127.0.0.0/8']),
  timeoutMs: TIMEOUT_MS,
  maxBytes: 1_000,
  cutBodies: true,
});

const createJob = (
  fetch: OutboundFetch = toReachable,
  limits: DeliveryLimits = { total: 32, perOrganization: 32, perHost: 4 },
) =>
  createNotificationDeliveriesJob({
    database: server.database,
    clock,
    encryptionKeys: server.runtime.encryptionKeys,
    publicUrl: 'https://cadastre.example.com',
    fetch,
    mailer: null,
    random: () => 0.5,
    limits,
  });

/** Runs the job until the returned function is called. */
const startJob = (limits?: DeliveryLimits): (() => Promise<void>) => {
  const stopping = new AbortController();
  const running = createJob(toReachable, limits).run({ signal: stopping.signal, done: () => undefined });
  return async () => {
    stopping.abort();
    await running;
  };
};

/** Sends what is due. Resolves to the number of attempts. */
const deliver = async (fetch?: OutboundFetch): Promise<number> => {
  await waitForFollowers(server.store, 'notifications');
  return runJobOnce(createJob(fetch));
};

const subscribe = async (owner: string, triggers: readonly string[], attributes: object = {}): Promise<string> => {
  const settings = { url: receiver.url, enabled: true, triggers, ...attributes };
  const id = await makeNotificationConfiguration(server, owner, 'ops', settings);
  await server.database.transaction([sql`delete from notifications.deliveries where configuration = ${id}`]);
  receiver.reset();
  other.reset();
  return id;
};

const lock = async (workspace: string): Promise<void> => {
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`, { reason: 'why' }), 200);
};
const unlock = async (workspace: string): Promise<void> => {
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
};

const bodies = (by = receiver) => by.received.map(({ body }) => JSON.parse(body));
/** Returns trigger, message and status of each request. Requests of a round arrive in any order. */
const notified = (by = receiver): readonly unknown[] =>
  bodies(by)
    .map(({ notifications: [{ trigger, message, run_status: status }] }) => [trigger, message, status])
    .toSorted();

const listOf = async (configuration: string, query = '') =>
  expectStatus(await server.get(`/api/v2/notification-configurations/${configuration}/deliveries${query}`), 200).body;

const ALL_RUN_TRIGGERS = [
  'run:created',
  'run:planning',
  'run:needs_attention',
  'run:applying',
  'run:completed',
  'run:errored',
];

describe('notifications about a run', () => {
  it('follow its statuses', async () => {
    const workspace = await aWorkspace();
    await subscribe(`workspaces/${workspace}`, ALL_RUN_TRIGGERS);
    const run = await makeRun(server, workspace);
    await waitForFollowers(server.store, 'run_queue');
    await reported(run, 'planning', 'planned');
    expectStatus(await act(run, 'apply'), 202);
    await reported(run, 'applying', 'applied');
    expect(await deliver()).toBe(5);
    expect(notified()).toEqual([
      ['run:applying', 'Run Applying', 'applying'],
      ['run:completed', 'Run Applied', 'applied'],
      ['run:created', 'Run Created', 'pending'],
      ['run:needs_attention', 'Run Needs Attention', 'planned'],
      ['run:planning', 'Run Planning', 'planning'],
    ]);
    expect(await deliver()).toBe(0);
  });

  it('have the payload of the vendor, and a signature that any implementation of HMAC can check', async () => {
    const workspace = await aWorkspace();
    const id = await subscribe(`workspaces/${workspace}`, ['run:created'], { token: TOKEN });
    const run = await makeRun(server, workspace, { message: 'Add queue workers' });
    const { attributes } = expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data;
    const { attributes: account } = expectStatus(await server.get('/api/v2/account/details'), 200).body.data;
    const { name } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data.attributes;
    expect(await deliver()).toBe(1);
    const [request] = receiver.received;
    expect(JSON.parse(request?.body ?? '')).toEqual({
      payload_version: 1,
      notification_configuration_id: id,
      run_url: `https://cadastre.example.com/app/acme/workspaces/${name}/runs/${run}`,
      run_id: run,
      run_message: 'Add queue workers',
      run_created_at: attributes['created-at'],
      run_created_by: account.username,
      workspace_id: workspace,
      workspace_name: name,
      organization_name: 'acme',
      notifications: [
        {
          message: 'Run Created',
          trigger: 'run:created',
          run_status: 'pending',
          run_updated_at: attributes['created-at'],
          run_updated_by: account.username,
        },
      ],
    });
    const signature = createHmac('sha512', TOKEN)
      .update(request?.body ?? '')
      .digest('hex');
    expect(request?.headers['x-tfe-notification-signature']).toBe(signature);
    const stored = await server.database.rows<{ text: string }>(
      sql`select d::text as text from notifications.deliveries d`,
    );
    expect(stored).toHaveLength(1);
    expect(stored[0]?.text).not.toContain(`"${account.username as string}"`);
  });

  it('need no attention if the run applies itself, has no changes, or only plans', async () => {
    const workspace = await aWorkspace();
    await subscribe(`workspaces/${workspace}`, ['run:needs_attention', 'run:completed']);
    for (const [options, status] of [
      [{ 'auto-apply': true }, 'planned'],
      [{ 'plan-only': true }, 'planned'],
    ] as const) {
      const run = await makeRun(server, workspace, options);
      await waitForFollowers(server.store, 'run_queue');
      await reported(run, 'planning', status);
      if ('auto-apply' in options) await reported(run, 'applying', 'applied');
    }
    await deliver();
    expect(notified()).toEqual([
      ['run:completed', 'Run Applied', 'applied'],
      ['run:completed', 'Run Planned And Finished', 'planned_and_finished'],
    ]);
  });

  it('name the end of a run that was canceled, discarded or failed', async () => {
    const workspace = await aWorkspace();
    await subscribe(`workspaces/${workspace}`, ['run:errored']);
    const [first, second, third] = [
      await makeRun(server, workspace),
      await makeRun(server, workspace),
      await makeRun(server, workspace),
    ];
    await waitForFollowers(server.store, 'run_queue');
    await reported(first, 'planning', 'errored');
    // While the second one is before it in the queue. Nobody can discard a run that is about to be planned.
    expectStatus(await act(third, 'discard'), 202);
    expectStatus(await act(second, 'cancel'), 202);
    await deliver();
    expect(notified()).toEqual([
      ['run:errored', 'Run Canceled', 'canceled'],
      ['run:errored', 'Run Discarded', 'discarded'],
      ['run:errored', 'Run Errored', 'errored'],
    ]);
  });
});

describe('notifications of an organization', () => {
  it('are about all its workspaces, also deleted ones, and not about locks that runs hold', async () => {
    await makeOrganization(server, 'wide');
    const id = await subscribe('organizations/wide', [
      'workspace:created',
      'workspace:deleted',
      'workspace:locked',
      'workspace:unlocked',
      'run:created',
    ]);
    const workspace = await makeWorkspace(server, 'wide', 'app');
    await lock(workspace);
    await unlock(workspace);
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    expect(await deliver()).toBe(4);
    expect(notified()).toEqual([
      ['workspace:created', 'Workspace Created', null],
      ['workspace:deleted', 'Workspace Deleted', null],
      ['workspace:locked', 'Workspace Locked', null],
      ['workspace:unlocked', 'Workspace Unlocked', null],
    ]);
    for (const body of bodies()) {
      expect(body).toMatchObject({
        notification_configuration_id: id,
        organization_name: 'wide',
        workspace_id: workspace,
        run_id: null,
      });
    }
    expect(bodies().filter(({ workspace_name: name }) => name === 'app').length).toBeGreaterThanOrEqual(2);
    expectStatus(await server.delete(`/api/v2/notification-configurations/${id}`), 204);
  });
});

describe('a configuration', () => {
  it('sends only its triggers, only while it is enabled, and nothing from before', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'quiet');
    await lock(workspace);
    const id = await subscribe(`workspaces/${workspace}`, ['workspace:locked']);
    await unlock(workspace);
    expect(await deliver()).toBe(0);
    const enable = async (enabled: boolean): Promise<void> => {
      const body = resource('notification-configurations', { enabled });
      expectStatus(await server.patch(`/api/v2/notification-configurations/${id}`, body), 200);
      receiver.reset();
    };
    await enable(false);
    await lock(workspace);
    await unlock(workspace);
    await enable(true);
    expect(await deliver()).toBe(0);
    await lock(workspace);
    expect(await deliver()).toBe(1);
    expect(notified()).toEqual([['workspace:locked', 'Workspace Locked', null]]);
  });

  it('that is disabled before its notification is sent sends nothing', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'late');
    const id = await subscribe(`workspaces/${workspace}`, ['workspace:locked']);
    await lock(workspace);
    await waitForFollowers(server.store, 'notifications');
    const body = resource('notification-configurations', { enabled: false });
    expectStatus(await server.patch(`/api/v2/notification-configurations/${id}`, body), 200);
    expect(await deliver()).toBe(1);
    expect(receiver.received).toEqual([]);
    const [entry] = (await listOf(id)).data;
    expect(entry.attributes).toMatchObject({
      status: 'failed',
      response: { code: '', body: 'The configuration was disabled before the notification was sent' },
    });
  });

  it('of a workspace that is deleted before its notification is sent sends nothing', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'deleted-early');
    await subscribe(`workspaces/${workspace}`, ['workspace:locked']);
    await lock(workspace);
    await waitForFollowers(server.store, 'notifications');
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    expect(await deliver()).toBe(1);
    expect(receiver.received).toEqual([]);
  });

  it('sends to its new URL after a change, also what was stored before', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'moved');
    const id = await subscribe(`workspaces/${workspace}`, ['workspace:locked']);
    await lock(workspace);
    await waitForFollowers(server.store, 'notifications');
    const body = resource('notification-configurations', { url: other.url });
    expectStatus(await server.patch(`/api/v2/notification-configurations/${id}`, body), 200);
    other.reset();
    expect(await deliver()).toBe(1);
    expect([receiver.received.length, other.received.length]).toEqual([0, 1]);
  });
});

describe('a destination that fails', () => {
  it('gets eight attempts in about a day, each with the same id, and then no more', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'failing');
    const id = await subscribe(`workspaces/${workspace}`, ['workspace:locked']);
    receiver.answer((response) => response.writeHead(503).end('down'));
    await lock(workspace);
    const startedAt = clock.now().getTime();
    for (let attempt = 1; attempt <= 8; attempt += 1) {
      expect(await deliver()).toBe(1);
      expect(await deliver()).toBe(0);
      const [{ attributes }] = (await listOf(id)).data;
      expect(attributes).toMatchObject({
        attempts: attempt,
        status: attempt < 8 ? 'pending' : 'failed',
        response: { code: '503', body: 'down', successful: 'false' },
      });
      expect(attributes['next-attempt-at'] === null).toBe(attempt === 8);
      if (attempt < 8) clock.time = Date.parse(attributes['next-attempt-at'] as string);
    }
    clock.pass({ days: 2 });
    expect(await deliver()).toBe(0);
    expect(receiver.received).toHaveLength(8);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-cadastre-delivery'])).size).toBe(1);
    expect((clock.time - startedAt) / 3_600_000).toBeGreaterThan(48 + 20);
  });

  it('gets the notification when it works again', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'recovering');
    const id = await subscribe(`workspaces/${workspace}`, ['workspace:locked']);
    receiver.answer((response) => response.destroy());
    await lock(workspace);
    expect(await deliver()).toBe(1);
    receiver.reset();
    clock.pass({ minutes: 1 });
    expect(await deliver()).toBe(1);
    expect(receiver.received).toHaveLength(1);
    expect((await listOf(id)).data[0].attributes).toMatchObject({ status: 'delivered', attempts: 2 });
  });

  it('shows that its URL cannot be decrypted, and stops no other', async () => {
    const [damaged, sound] = [
      await makeWorkspace(server, 'acme', 'damaged'),
      await makeWorkspace(server, 'acme', 'sound'),
    ];
    const id = await subscribe(`workspaces/${damaged}`, ['workspace:locked']);
    await subscribe(`workspaces/${sound}`, ['workspace:locked']);
    await server.database.transaction([
      sql`update vault.secrets set sealed = set_byte(sealed, 20, get_byte(sealed, 20) # 1) where id = ${id}`,
    ]);
    await lock(damaged);
    await lock(sound);
    expect(await deliver()).toBe(2);
    expect(receiver.received).toHaveLength(1);
    const [entry] = await server.database.rows<{ status: string; attempts: number }>(
      sql`select status, attempts from notifications.deliveries where configuration = ${id}`,
    );
    expect(entry).toEqual({ status: 'pending', attempts: 1 });
    expectStatus(await server.delete(`/api/v2/notification-configurations/${id}`), 204);
  });

  it('delays no other destination, and occupies only its share of requests', async () => {
    const [slow, fast] = [await makeWorkspace(server, 'acme', 'slow'), await makeWorkspace(server, 'acme', 'fast')];
    await subscribe(`workspaces/${slow}`, ['workspace:locked', 'workspace:unlocked']);
    await subscribe(`workspaces/${fast}`, ['workspace:locked'], { url: other.url });
    receiver.answer(() => undefined);
    for (let n = 0; n < 4; n += 1) {
      await lock(slow);
      await unlock(slow);
    }
    await waitForFollowers(server.store, 'notifications');
    const stop = startJob({ total: 4, perOrganization: 4, perHost: 3 });
    await waitUntil(() => receiver.received.length === 3, 'the slow destination has its requests');
    await lock(fast);
    await waitUntil(() => other.received.length === 1, 'the other destination has its request');
    expect(receiver.received).toHaveLength(3);
    await stop();
  });
});

describe('an organization whose destinations never answer', () => {
  let second: NotificationReceiver;
  let healthy: string;

  beforeAll(async () => {
    second = await startReceiver('127.0.0.3');
    await makeOrganization(server, 'healthy');
    healthy = await makeWorkspace(server, 'healthy', 'app');
    await subscribe(`workspaces/${healthy}`, ['workspace:locked'], { url: other.url });
  });
  beforeEach(() => {
    second.reset();
  });
  afterEach(async () => {
    await unlock(healthy);
  });
  afterAll(async () => {
    await second.close();
  });

  const countHanging = (): number => receiver.received.length + second.received.length;

  /** Makes eight notifications that are due, for two hosts that never answer. */
  const makeBacklog = async (name: string): Promise<void> => {
    const workspace = await makeWorkspace(server, 'acme', name);
    for (const { url } of [receiver, second])
      await subscribe(`workspaces/${workspace}`, ['workspace:locked', 'workspace:unlocked'], { url });
    for (const destination of [receiver, second]) {
      destination.reset();
      destination.answer(() => undefined);
    }
    for (let n = 0; n < 2; n += 1) {
      await lock(workspace);
      await unlock(workspace);
    }
    await waitForFollowers(server.store, 'notifications');
  };

  it('occupies only its share of requests, and delays no other organization', async () => {
    await makeBacklog('greedy');
    const stop = startJob({ total: 4, perOrganization: 3, perHost: 4 });
    await waitUntil(() => countHanging() === 3, 'the organization has its requests');
    await lock(healthy);
    await waitUntil(() => other.received.length === 1, 'the other organization has its request');
    expect(countHanging()).toBe(3);
    expect(Math.min(receiver.received.length, second.received.length)).toBe(1);
    await stop();
  });

  it('takes turns with other organizations if there are few requests for all', async () => {
    await makeBacklog('earlier');
    await lock(healthy);
    await waitForFollowers(server.store, 'notifications');
    const stop = startJob({ total: 2, perOrganization: 2, perHost: 2 });
    await waitUntil(() => other.received.length === 1, 'the other organization has its request');
    await waitUntil(() => countHanging() > 0, 'the organization has its request');
    await stop();
    expect(other.received).toHaveLength(1);
  });
});

describe('a hostile destination', () => {
  it.each([
    ['that never answers', () => undefined, withShortTimeout, '127.0.0.1 did not answer in time'],
    [
      'that redirects to a private address',
      (response: ServerResponse) =>
        void response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end(),
      toReachable,
      '127.0.0.1 redirected the request, which is not permitted here',
    ],
  ])('%s is tried again', async (name, answer, fetch, why) => {
    const workspace = await makeWorkspace(server, 'acme', name.replaceAll(' ', '-'));
    const id = await subscribe(`workspaces/${workspace}`, ['workspace:locked']);
    receiver.answer(answer);
    await lock(workspace);
    expect(await deliver(fetch)).toBe(1);
    expect((await listOf(id)).data[0].attributes).toMatchObject({
      status: 'pending',
      response: { code: '', body: why },
    });
  });

  it('that sends an endless body is read to the limit only', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'endless');
    const id = await subscribe(`workspaces/${workspace}`, ['workspace:locked']);
    let closed = false;
    receiver.answer((response) => {
      response.on('close', () => (closed = true));
      const write = (): void => {
        while (!closed && response.write('x'.repeat(4_096)));
        if (!closed) response.once('drain', write);
      };
      write();
    });
    await lock(workspace);
    expect(await deliver()).toBe(1);
    expect((await listOf(id)).data[0].attributes).toMatchObject({
      status: 'delivered',
      response: { code: '200', body: 'x'.repeat(1_000) },
    });
    await waitUntil(() => closed, 'the connection is closed');
  });

  it('with a private address, or with a name of one, gets nothing', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'private');
    const id = await subscribe(`workspaces/${workspace}`, ['workspace:locked']);
    await lock(workspace);
    expect(await deliver(createDestinationFetch([]))).toBe(1);
    const byName = resource('notification-configurations', {
      enabled: false,
      url: receiver.url.replace('127.0.0.1', 'localhost'),
    });
    expectStatus(await server.patch(`/api/v2/notification-configurations/${id}`, byName), 200);
    const privately = async (): Promise<string> => {
      clock.pass({ minutes: 5 });
      await server.database.transaction([
        sql`update views.notification_configurations set enabled = true where id = ${id}`,
      ]);
      expect(await deliver(createDestinationFetch([]))).toBe(1);
      return (await listOf(id)).data[0].attributes.response.body as string;
    };
    expect(await privately()).toMatch(/^localhost has a private address/);
    expect(receiver.received).toEqual([]);
  });
});

describe('a process that ends while it sends', () => {
  it('loses nothing: the next one sends the notification again with the same id', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'killed');
    const id = await subscribe(`workspaces/${workspace}`, ['workspace:locked']);
    receiver.answer(() => undefined);
    await lock(workspace);
    await waitForFollowers(server.store, 'notifications');
    const stop = startJob();
    await waitUntil(() => receiver.received.length === 1, 'the request has arrived');
    await stop();
    expect((await listOf(id)).data[0].attributes).toMatchObject({ status: 'pending', attempts: 1, response: null });
    const [first] = receiver.received;
    receiver.reset();
    expect(await deliver()).toBe(0);
    clock.pass({ minutes: 1 });
    expect(await deliver()).toBe(1);
    expect(receiver.received[0]?.headers['x-cadastre-delivery']).toBe(first?.headers['x-cadastre-delivery']);
    expect(receiver.received[0]?.body).toBe(first?.body);
  });

  it('stores a notification once, however often the follower reads its event', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'repeated');
    const id = await subscribe(`workspaces/${workspace}`, ['workspace:locked']);
    await lock(workspace);
    expect(await deliver()).toBe(1);
    const events = (await readWholeLog(server.store, { keepEncrypted: true })).filter(
      ({ stream }) => stream === workspace,
    );
    const session = { run: <T>(statement: Sql) => server.database.rows<T>(statement) };
    const statements = await createNotificationsFollower(server.store.kinds).follow(events, session, server.store);
    expect(statements).toHaveLength(1);
    await server.database.transaction(statements);
    expect((await listOf(id)).meta.pagination['total-count']).toBe(1);
  });
});

describe('the list of deliveries', () => {
  it('is paged with the newest first, and shows trigger, run and status', async () => {
    const workspace = await aWorkspace();
    const id = await subscribe(`workspaces/${workspace}`, ['run:created']);
    const runs = [];
    for (let n = 0; n < 3; n += 1) runs.push(await makeRun(server, workspace, { 'plan-only': true }));
    await waitForFollowers(server.store, 'notifications');
    const before = await listOf(id, '?page[size]=2');
    expect(before.meta.pagination).toMatchObject({ 'total-count': 3, 'next-page': 2 });
    expect(before.data.map(({ attributes }: { attributes: Record<string, unknown> }) => attributes['run-id'])).toEqual([
      runs[2],
      runs[1],
    ]);
    expect(before.data[0]).toMatchObject({
      type: 'notification-deliveries',
      attributes: { trigger: 'run:created', status: 'pending', attempts: 0, 'workspace-id': workspace, response: null },
      relationships: { 'notification-configuration': { data: { type: 'notification-configurations', id } } },
    });
    expect(await deliver()).toBe(3);
    const [{ attributes }] = (await listOf(id)).data;
    expect(attributes).toMatchObject({ status: 'delivered', attempts: 1, response: { code: '200' } });
    const document = expectStatus(await server.get(`/api/v2/notification-configurations/${id}`), 200).body.data;
    expect(document.attributes['delivery-responses']).toHaveLength(3);
    expectStatus(await server.get('/api/v2/notification-configurations/nc-none/deliveries'), 404);
  });

  it('loses entries 30 days after their end, and those without a configuration', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'old');
    const id = await subscribe(`workspaces/${workspace}`, ['workspace:locked', 'workspace:unlocked']);
    await lock(workspace);
    expect(await deliver()).toBe(1);
    clock.pass({ days: 29 });
    await unlock(workspace);
    expect(await deliver()).toBe(1);
    const job = createNotificationRetentionJob(server.database, clock);
    expect(await runJobOnce(job)).toBe(0);
    clock.pass({ days: 2 });
    expect(await runJobOnce(job)).toBe(1);
    expect((await listOf(id)).meta.pagination['total-count']).toBe(1);
    await server.database.transaction([
      sql`update notifications.deliveries set configuration = 'nc-gone', status = 'pending', next_attempt_at = created_at`,
    ]);
    expect(await deliver()).toBe(0);
    expect(await runJobOnce(job)).toBe(1);
  });
});
