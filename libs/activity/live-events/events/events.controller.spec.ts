import { register } from 'prom-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeProject,
  makeWorkspace,
  resource,
} from '../../../../test/support/seeds.js';
import { waitUntil } from '../../../../test/support/product.js';
import { RawConnection } from '../../../../test/support/raw-connection.js';
import { startAnotherGateway, startTestServer, type TestServer } from '../../../../test/support/server.js';
import { readAll, shorten, StreamReader, type StreamRequestOptions } from '../../../../test/support/live-streams.js';

let server: TestServer;
const clock = new AdjustableClock();
const opened: StreamReader[] = [];

beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterEach(() => {
  for (const reader of opened.splice(0)) reader.close();
  clock.offsetMs = 0;
});
afterAll(() => server.close());

const open = async (
  organization: string,
  token = server.adminToken,
  options: StreamRequestOptions = {},
  on: { readonly url: string } = server,
): Promise<StreamReader> => {
  const reader = await StreamReader.open(on, organization, token, options);
  opened.push(reader);
  return reader;
};

const lock = async (workspace: string): Promise<void> => {
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`, { reason: 'a secret reason' }), 200);
};

const unlock = async (workspace: string): Promise<void> => {
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
};

/** Returns the value of a metric; of one with labels, the value for this reason. */
const readMetric = async (name: string, reason?: string): Promise<number> => {
  const { values = [] } = (await register.getSingleMetric(name)?.get()) ?? {};
  return values.find(({ labels }) => labels['reason'] === reason)?.value ?? 0;
};

const readMetrics = async () => ({
  open: await readMetric('cadastre_live_streams_open'),
  endedByClients: await readMetric('cadastre_live_streams_ended_total', 'client'),
  inFlight: await readMetric('cadastre_http_requests_in_flight'),
});

describe('a live stream', () => {
  it('is a response that proxies and browsers do not buffer or store', async () => {
    await makeOrganization(server, 'mill');
    const response = await StreamReader.request(server, 'mill', server.adminToken);
    opened.push(new StreamReader(response));
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    expect(response.headers['content-encoding']).toBeUndefined();
  });

  it('begins with the present position and the pause before the client connects again', async () => {
    await makeOrganization(server, 'barn');
    const reader = await open('barn');
    await reader.until(({ messages }) => messages.length > 0);
    expect(reader.messages).toEqual([
      { id: expect.stringMatching(/^[0-9a-f-]{36}$/), event: 'ready', data: { time: expect.any(String) } },
    ]);
    expect(reader.retryMs).toBeGreaterThanOrEqual(1_000);
  });

  it('says in the order of the log what has changed, and nothing else', async () => {
    const { defaultProject, id } = await makeOrganization(server, 'forge');
    await makeOrganization(server, 'other-forge');
    const reader = await open('forge');
    await reader.until(({ messages }) => messages.length > 0);
    const workspace = await makeWorkspace(server, 'forge', 'one');
    await makeWorkspace(server, 'other-forge', 'not-ours');
    await lock(workspace);
    await reader.until(({ messages }) => messages.length > 2);
    expectStatus(
      await server.patch('/api/v2/organizations/forge', resource('organizations', { email: 'new@forge.test' })),
      200,
    );
    await unlock(workspace);
    expectStatus(await server.delete(`/api/v2/workspaces/${workspace}`), 204);
    expect(await readAll(reader, server, 'forge')).toEqual([
      `created workspaces ${workspace} WorkspaceCreated`,
      `changed workspaces ${workspace} WorkspaceLocked`,
      `changed organizations ${id} OrganizationUpdated`,
      `changed workspaces ${workspace} WorkspaceUnlocked`,
      `deleted workspaces ${workspace} WorkspaceDeleted`,
    ]);
    expect(reader.messages[2]).toEqual({
      id: reader.messages[2]?.data.id,
      event: 'changed',
      data: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        type: 'WorkspaceLocked',
        time: expect.any(String),
        resource: { type: 'workspaces', id: workspace },
        workspace,
        project: defaultProject,
      },
    });
    expect(JSON.stringify(reader.messages)).not.toContain('secret');
  });

  it('resumes after each message, without a gap and without a double', async () => {
    await makeOrganization(server, 'quarry');
    const first = await open('quarry');
    await first.until(({ messages }) => messages.length > 0);
    const workspace = await makeWorkspace(server, 'quarry', 'one');
    for (let n = 0; n < 3; n += 1) {
      await lock(workspace);
      await unlock(workspace);
    }
    await makeProject(server, 'quarry', 'pit');
    await readAll(first, server, 'quarry');
    const all = first.messages.map(shorten);
    for (const [n, { id }] of first.messages.entries()) {
      const again = await open('quarry', server.adminToken, { lastEventId: id });
      await again.until(({ messages }) => messages.length >= all.length - n - 1);
      expect(again.messages.map(shorten)).toEqual(all.slice(n + 1));
      again.close();
    }
  });
});

describe('a client', () => {
  it('resumes after the header Last-Event-ID, or after the parameter of the address if it sends no header', async () => {
    await makeOrganization(server, 'dairy');
    const reader = await open('dairy');
    await reader.until(({ messages }) => messages.length > 0);
    const [one, two] = [await makeWorkspace(server, 'dairy', 'one'), await makeWorkspace(server, 'dairy', 'two')];
    await readAll(reader, server, 'dairy');
    const [ready, first] = reader.messages.map(({ id }) => id);
    const [header, query] = [
      await open('dairy', server.adminToken, { lastEventId: first ?? '', query: `?after=${ready}` }),
      await open('dairy', server.adminToken, { query: `?after=${ready?.toUpperCase()}` }),
    ];
    const [createdOne, createdTwo] = [one, two].map((id) => `created workspaces ${id} WorkspaceCreated`);
    expect(await readAll(query, server, 'dairy')).toEqual([createdOne, createdTwo]);
    expect(await readAll(header, server, 'dairy')).toEqual([createdTwo]);
  });

  it('gets the changes since a time, and no change before it', async () => {
    await makeOrganization(server, 'sawmill');
    await makeWorkspace(server, 'sawmill', 'before');
    const reader = await open('sawmill');
    await reader.until(({ messages }) => messages.length > 0);
    const workspace = await makeWorkspace(server, 'sawmill', 'after');
    await readAll(reader, server, 'sawmill');
    const created = reader.messages.find(({ data }) => data.type === 'WorkspaceCreated');
    // Ids of events begin with their time (UUIDv7).
    const since = new Date(Number.parseInt(String(created?.id).replaceAll('-', '').slice(0, 12), 16)).toISOString();
    const [late, later] = [
      await open('sawmill', server.adminToken, { query: `?since=${since}` }),
      await open('sawmill', server.adminToken, { query: '?since=9999-12-31T23:59:59.999Z' }),
    ];
    await lock(workspace);
    const locked = `changed workspaces ${workspace} WorkspaceLocked`;
    expect(await readAll(late, server, 'sawmill')).toEqual([
      `created workspaces ${workspace} WorkspaceCreated`,
      locked,
    ]);
    expect(await readAll(later, server, 'sawmill')).toEqual([locked]);
    const second = await open('sawmill', server.adminToken, { query: `?since=${since.slice(0, 19)}Z` });
    expect(await readAll(second, server, 'sawmill')).toEqual(
      expect.arrayContaining([`created workspaces ${workspace} WorkspaceCreated`]),
    );
    const first = await open('sawmill', server.adminToken, { query: '?since=0001-01-01T00:00:00.000Z' });
    expect(await readAll(first, server, 'sawmill')).toEqual(expect.arrayContaining([locked]));
  });

  it('gets 400 for a time that is none', async () => {
    const { body } = expectStatus(await server.get('/api/v2/organizations/sawmill/events?since=yesterday'), 400);
    expect(body.errors).toEqual([
      {
        status: '400',
        title: 'bad request',
        detail: 'since: must be a time such as 2026-01-31T12:30:15.123Z, got "yesterday"',
        source: { parameter: 'since' },
      },
    ]);
  });

  it('gets 400 for a position that is no id of a message', async () => {
    await makeOrganization(server, 'stable');
    const { body } = expectStatus(await server.get('/api/v2/organizations/stable/events?after=17'), 400);
    expect(body.errors).toEqual([
      {
        status: '400',
        title: 'bad request',
        detail: 'after: must be the id of a message, which is a UUID, got "17"',
        source: { parameter: 'after' },
      },
    ]);
    const response = await StreamReader.request(server, 'stable', server.adminToken, { lastEventId: 'x' });
    response.resume();
    expect(response.statusCode).toBe(400);
  });

  it('gets no stream for a HEAD request, which has no reader', async () => {
    await makeOrganization(server, 'shed');
    const before = (await readMetrics()).open;
    const response = await StreamReader.request(server, 'shed', server.adminToken, { method: 'HEAD' });
    response.resume();
    expect(response).toMatchObject({ statusCode: 200, headers: { 'content-type': 'text/event-stream' } });
    expect((await readMetrics()).open).toBe(before);
  });

  it('leaves no stream behind if it disconnects before the response', async () => {
    await makeOrganization(server, 'loom');
    const { database } = server;
    const row = database.row.bind(database);
    let isWaiting = false;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    database.row = async (statement) => {
      isWaiting = true;
      await released;
      return row(statement);
    };
    const before = await readMetrics();
    const connection = new RawConnection(server.url).request('GET /api/v2/organizations/loom/events', {
      authorization: `Bearer ${server.adminToken}`,
    });
    await waitUntil(() => isWaiting, 'the request is being answered');
    connection.destroy();
    await waitUntil(async () => (await readMetrics()).inFlight === before.inFlight, 'the server has noticed it');
    database.row = row;
    release();
    await waitUntil(async () => (await readMetrics()).endedByClients > before.endedByClients, 'the stream has ended');
    expect((await readMetrics()).open).toBe(before.open);
  });

  it('gets the changes that another gateway has made', async () => {
    await makeOrganization(server, 'loft');
    const other = await startAnotherGateway(server);
    try {
      const reader = await open('loft', server.adminToken, {}, other);
      await reader.until(({ messages }) => messages.length > 0);
      const workspace = await makeWorkspace(server, 'loft', 'one');
      const created = [`created workspaces ${workspace} WorkspaceCreated`];
      expect(await readAll(reader, server, 'loft')).toEqual(created);
      const back = await open('loft', server.adminToken, { lastEventId: reader.messages[0]?.id ?? '' });
      expect(await readAll(back, other, 'loft')).toEqual(created);
    } finally {
      for (const reader of opened.splice(0)) reader.close();
      await other.close();
    }
  });
});

describe('a gateway', () => {
  it('refuses more streams of a caller with 429 and more streams of all callers with 503, until others end', async () => {
    await makeOrganization(server, 'attic');
    const ada = await makeMember(server, 'attic', 'ada-attic');
    const small = await startAnotherGateway(server, { liveStreams: { total: 3, perCaller: 2 } });
    const refused = async (token: string) => {
      const { status, body, headers } = await small.as(token).get('/api/v2/organizations/attic/events');
      return { status, detail: body.errors[0].detail, retryAfter: headers.get('retry-after') };
    };
    try {
      const first = await open('attic', server.adminToken, {}, small);
      await open('attic', server.adminToken, {}, small);
      expect(await refused(server.adminToken)).toEqual({
        status: 429,
        detail: expect.stringContaining('CADASTRE_MAX_LIVE_STREAMS_PER_CALLER'),
        retryAfter: '10',
      });
      await open('attic', ada.token, {}, small);
      expect(await refused(ada.token)).toMatchObject({
        status: 503,
        detail: expect.stringContaining('CADASTRE_MAX_LIVE_STREAMS'),
      });
      first.close();
      const openAgain = async (): Promise<boolean> =>
        open('attic', server.adminToken, {}, small).then(
          () => true,
          () => false,
        );
      await waitUntil(openAgain, 'the server has noticed that a client has gone');
    } finally {
      for (const reader of opened.splice(0)) reader.close();
      await small.close();
    }
  });

  it('answers other requests while streams are open, and counts no stream as a request that it works on', async () => {
    await makeOrganization(server, 'cellar');
    const narrow = await startTestServer({ env: { CADASTRE_MAX_UNANSWERED_REQUESTS: '16' } });
    try {
      await makeOrganization(narrow, 'cellar');
      const readers = [];
      for (let n = 0; n < 20; n += 1) readers.push(await open('cellar', narrow.adminToken, {}, narrow));
      expectStatus(await narrow.get('/api/v2/organizations/cellar'), 200);
      expect(readers.every(({ hasEnded }) => !hasEnded)).toBe(true);
    } finally {
      for (const reader of opened.splice(0)) reader.close();
      await narrow.close();
    }
  });
});
