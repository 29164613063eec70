import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sql, type EventContext } from '#platform/kernel';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { StreamReader } from '../../../../test/support/live-streams.js';
import { expectStatus, makeMember, makeOrganization } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { waitUntil } from '../../../../test/support/product.js';
import { LIVE_STREAM_LIMITS, LiveStreams, type LiveStreamLimits } from './live.streams.js';

let server: TestServer;
const clock = new AdjustableClock();
const started: LiveStreams[] = [];
const clients: pg.Client[] = [];

beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterEach(async () => {
  for (const streams of started.splice(0)) await streams.onModuleDestroy();
  for (const client of clients.splice(0)) await client.end();
  clock.offsetMs = 0;
});
afterAll(() => server.close());

/** Starts the streams of another gateway. Its timer calls nothing: tests call `keepAlive` themselves. */
const startStreams = (limits: Partial<LiveStreamLimits> = {}): LiveStreams => {
  const never = { keepAliveMs: 2 ** 31 - 1, total: 100, perCaller: 100 };
  const streams = new LiveStreams(server.store, clock, server.authenticator, {
    ...LIVE_STREAM_LIMITS,
    ...never,
    ...limits,
  });
  started.push(streams);
  return streams;
};

const openBody = async (
  streams: LiveStreams,
  organization: string,
  after: string | null = null,
  token = server.adminToken,
): Promise<Readable> => {
  const address = '127.0.0.1';
  const identity = await server.authenticator.identify(token, address);
  const start = after === null ? null : { event: after };
  return streams.open({ identity, credential: token, address, organization, start });
};

const open = async (...of: Parameters<typeof openBody>): Promise<StreamReader> => {
  const reader = new StreamReader(await openBody(...of));
  if (of[2] === undefined || of[2] === null) await reader.until(({ messages }) => messages.length > 0);
  return reader;
};

const connect = async (): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: server.runtime.databaseUrl });
  await client.connect();
  clients.push(client);
  return client;
};

const context: EventContext = {
  accessor: { id: 'system', type: 'system', name: 'test' },
  auth: 'System',
  impersonator: null,
  request: { id: null, address: null, userAgent: null },
  correlation: '',
  causation: null,
};

/** Appends an event that every member of the organization may read. Returns its id. */
const appendOn = async (client: pg.Client, organization: string, count = 1): Promise<readonly string[]> => {
  const ids = Array.from({ length: count }, () => randomUUID());
  const events = ids.map((id) => ({ id, type: 'ReservedTagKeyUpdated', schemaVersion: 1, data: {} }));
  await client.query('select event_store.append($1, null, $2, now(), $3, $4, null, null)', [
    `rtk-${randomUUID()}`,
    organization,
    context,
    JSON.stringify(events),
  ]);
  return ids;
};

const appendOne = async (client: pg.Client, organization: string): Promise<string> =>
  (await appendOn(client, organization))[0] as string;

const newOrganization = (): string => `org-${randomUUID()}`;

const idsOf = ({ messages }: StreamReader): string[] =>
  messages.filter(({ event }) => event === 'changed').map(({ data }) => data.id as string);

const readInOrder = async (organization: string): Promise<string[]> =>
  (
    await server.database.rows<{ id: string }>(sql`
      select e.id from event_store.events e where e.organization = ${organization} order by e.transaction, e.position`)
  ).map(({ id }) => id);

const has =
  (id: string) =>
  (reader: StreamReader): boolean =>
    idsOf(reader).includes(id);

/** Process ids of connections that listen to the log. */
const listeners = async (): Promise<number[]> =>
  (
    await server.database.rows<{ pid: number }>(sql`
      select pid from pg_locks
       where locktype = 'advisory' and classid::bigint = 731164011 and objsubid = 2 and granted
         and database = (select oid from pg_database where datname = current_database())`)
  ).map(({ pid }) => pid);

/** Waits until the only reader has read the log again. */
const waitForRound = async (): Promise<void> => {
  const [pid] = await listeners();
  const readStart = async () =>
    (
      await server.database.row<{ at: string }>(sql`
        select query_start::text || state as at from pg_stat_activity where pid = ${pid}::integer`)
    )?.at;
  const before = await readStart();
  await waitUntil(async () => (await readStart()) !== before, 'the reader has read the log again');
};

describe('a transaction that commits late', () => {
  it('is read after later ones have committed, in the order of the log, and once', async () => {
    const organization = newOrganization();
    const [early, late] = [await connect(), await connect()];
    const reader = await open(startStreams(), organization);
    await waitUntil(async () => (await listeners()).length === 1, 'the reader listens');
    await early.query('begin');
    const first = await appendOne(early, organization);
    const second = await appendOne(late, organization);
    await waitForRound();
    await waitForRound();
    expect(idsOf(reader)).toEqual([]);
    await early.query('commit');
    await reader.until(has(second));
    expect(idsOf(reader)).toEqual([first, second]);
  });

  it('is not missed by a client that resumes after a later event of another gateway', async () => {
    const organization = newOrganization();
    const [early, late] = [await connect(), await connect()];
    const before = await appendOne(late, organization);
    await early.query('begin');
    const first = await appendOne(early, organization);
    const second = await appendOne(late, organization);
    const [here, there] = [startStreams(), startStreams()];
    const reader = await open(here, organization, before);
    await waitUntil(async () => (await listeners()).length === 1, 'the reader listens');
    await waitForRound();
    expect(idsOf(reader)).toEqual([]);
    reader.close();
    await early.query('commit');
    const again = await open(there, organization, before);
    await again.until(has(second));
    expect(idsOf(again)).toEqual([first, second]);
  });
});

const TRANSACTIONS = 4;

const action = fc.oneof(
  { arbitrary: fc.record({ do: fc.constant('append' as const), of: fc.nat(TRANSACTIONS - 1) }), weight: 5 },
  {
    arbitrary: fc.record({ do: fc.constantFrom('commit' as const, 'rollback' as const), of: fc.nat(TRANSACTIONS - 1) }),
    weight: 3,
  },
  { arbitrary: fc.record({ do: fc.constant('reconnect' as const), of: fc.nat(1) }), weight: 2 },
);

describe('a client that connects again and again, to either of two gateways', () => {
  it('gets every event once and in the order of the log, however late transactions commit', async () => {
    const gateways = [startStreams(), startStreams()] as const;
    const connections = await Promise.all(Array.from({ length: TRANSACTIONS }, connect));
    const other = await connect();
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), async (actions) => {
        const organization = newOrganization();
        const received: string[] = [];
        const isOpen = connections.map(() => false);
        let reader = await open(gateways[0], organization);
        let last = reader.lastEventId;
        for (const { do: what, of: index } of actions) {
          const client = connections[index] as pg.Client;
          if (what === 'reconnect') {
            reader.close();
            received.push(...idsOf(reader));
            last = reader.lastEventId ?? last;
            reader = await open(gateways[index as 0 | 1], organization, last);
          } else if (what === 'append') {
            if (!isOpen[index]) await client.query('begin');
            isOpen[index] = true;
            await appendOn(client, organization);
          } else if (isOpen[index]) {
            await client.query(what);
            isOpen[index] = false;
          }
        }
        for (const [index, client] of connections.entries()) if (isOpen[index]) await client.query('commit');
        await reader.until(has(await appendOne(other, organization)));
        received.push(...idsOf(reader));
        reader.close();
        expect(received).toEqual(await readInOrder(organization));
      }),
      { numRuns: 60 },
    );
  });
});

describe('the reader of the log', () => {
  it('is one for all streams, and runs only while there are streams', async () => {
    expect(await listeners()).toEqual([]);
    const streams = startStreams();
    const readers = [await open(streams, newOrganization()), await open(streams, newOrganization())];
    await waitUntil(async () => (await listeners()).length === 1, 'the reader listens');
    readers[0]?.close();
    await readers[0]?.endReason();
    expect(await listeners()).toHaveLength(1);
    readers[1]?.close();
    await waitUntil(async () => (await listeners()).length === 0, 'the reader has stopped');
  });

  it('continues without a gap when its connection is lost', async () => {
    const organization = newOrganization();
    const client = await connect();
    const reader = await open(startStreams(), organization);
    await waitUntil(async () => (await listeners()).length === 1, 'the reader listens');
    const first = await appendOne(client, organization);
    await reader.until(has(first));
    const [pid] = await listeners();
    await client.query('select pg_terminate_backend($1)', [pid]);
    const second = await appendOne(client, organization);
    const third = await appendOne(client, organization);
    await reader.until(has(third));
    expect(idsOf(reader)).toEqual([first, second, third]);
  });

  it('sends nothing twice and skips nothing if a statement about permissions fails', async () => {
    const organization = newOrganization();
    const client = await connect();
    const reader = await open(startStreams(), organization);
    const { database } = server;
    const row = database.row.bind(database);
    let failures = 2;
    database.row = async (statement) => {
      if ((failures -= 1) >= 0) throw new Error('on purpose');
      return row(statement);
    };
    const ids = await appendOn(client, organization, 3);
    await reader.until(has(ids[2] as string));
    database.row = row;
    expect(failures).toBeLessThan(0);
    expect(idsOf(reader)).toEqual(ids);
  });
});

describe('a client that reads too slowly', () => {
  it('gets the end of the stream behind what was sent, and resumes without a gap', async () => {
    const organization = newOrganization();
    const client = await connect();
    const body = await openBody(startStreams({ bufferedBytes: 5_000 }), organization);
    const ids = await appendOn(client, organization, 100);
    await waitUntil(() => body.readableLength > 5_000, 'more is buffered than a client may leave unread');
    const slow = new StreamReader(body);
    expect(await slow.endReason()).toBe('slow');
    const rest = await open(startStreams(), organization, slow.lastEventId);
    await rest.until((reader) => idsOf(slow).length + idsOf(reader).length >= ids.length);
    expect([...idsOf(slow), ...idsOf(rest)]).toEqual(ids);
  });

  it('loses its connection and its place among the streams of the caller if it reads nothing at all', async () => {
    const organization = newOrganization();
    const client = await connect();
    const streams = startStreams({ bufferedBytes: 5_000, drainMs: 1, perCaller: 1 });
    const body = await openBody(streams, organization);
    const closed = new Promise<void>((resolve) => body.once('close', resolve));
    await appendOn(client, organization, 100);
    await closed;
    expect(body.destroyed).toBe(true);
    await open(streams, organization);
  });

  it('is not ended while it catches up, because the server waits for it', async () => {
    const organization = newOrganization();
    const client = await connect();
    const start = await appendOne(client, organization);
    const ids = await appendOn(client, organization, 3_000);
    const reader = await open(startStreams({ bufferedBytes: 100_000 }), organization, start);
    await reader.until(has(ids.at(-1) as string));
    expect(idsOf(reader)).toEqual(ids);
  });
});

describe('a client that resumes', () => {
  it('gets a reset and then new messages if it has missed too many messages', async () => {
    const organization = newOrganization();
    const client = await connect();
    const [first = '', second = ''] = await appendOn(client, organization, 5);
    const streams = startStreams({ resumedMessages: 3 });
    const late = await open(streams, organization, first);
    const inTime = await open(streams, organization, second);
    const next = await appendOne(client, organization);
    await Promise.all([late.until(has(next)), inTime.until(has(next))]);
    expect(late.messages.map(({ event }) => event)).toEqual(['reset', 'changed']);
    expect(late.messages[0]?.data).toEqual({ time: expect.any(String), reason: 'too-old' });
    expect(idsOf(inTime)).toHaveLength(4);
    const again = await open(streams, organization, late.messages[0]?.id ?? '');
    await again.until(has(next));
    expect(idsOf(again)).toEqual([next]);
  });

  it('gets a reset if too many events of other organizations came in between, unless its stream was open', async () => {
    const [organization, busy] = [newOrganization(), newOrganization()];
    const client = await connect();
    const streams = startStreams({ resumedEvents: 10 });
    const reader = await open(streams, organization);
    const start = reader.lastEventId;
    const others = await open(streams, busy);
    const ids = await appendOn(client, busy, 20);
    await others.until(has(ids.at(-1) as string));
    await streams.keepAlive();
    await reader.until(({ lastEventId }) => lastEventId !== start);
    expect(reader.messages).toHaveLength(1);
    const outdated = await open(streams, organization, start);
    const resumed = await open(streams, organization, reader.lastEventId);
    const next = await appendOne(client, organization);
    await Promise.all([outdated.until(has(next)), resumed.until(has(next))]);
    expect(outdated.messages.map(({ event }) => event)).toEqual(['reset', 'changed']);
    expect(resumed.messages.map(({ event }) => event)).toEqual(['changed']);
  });

  it('gets a reset if the log does not have its position, as after a restore of an older backup', async () => {
    const reader = await open(startStreams(), newOrganization(), randomUUID());
    await reader.until(({ messages }) => messages.length > 0);
    expect(reader.messages).toMatchObject([{ event: 'reset', data: { reason: 'unknown' } }]);
  });
});

describe('at intervals, the server', () => {
  it('sends a comment', async () => {
    const streams = startStreams();
    const reader = await open(streams, newOrganization());
    await streams.keepAlive();
    await reader.until(({ comments }) => comments > 0);
    expect(reader).toMatchObject({ comments: 1, hasEnded: false });
  });

  it('ends streams that are too old', async () => {
    const streams = startStreams();
    const reader = await open(streams, newOrganization());
    clock.pass({ minutes: 59 });
    await streams.keepAlive();
    expect(reader.hasEnded).toBe(false);
    clock.pass({ minutes: 1 });
    await streams.keepAlive();
    expect(await reader.endReason()).toBe('age');
  });

  it('ends streams whose callers have lost access, although nothing has changed in the organization', async () => {
    const { id } = await makeOrganization(server, 'mill');
    const ada = await makeMember(server, 'mill', 'ada');
    const streams = startStreams();
    const reader = await open(streams, id, null, ada.token);
    await server.database.rows(sql`delete from access.token_hashes h using authentication_tokens t
                                    where t.id = h.token and t.owner = ${ada.id}`);
    await streams.keepAlive();
    expect(await reader.endReason()).toBe('access');
  });

  it('keeps streams open while the database cannot be read', async () => {
    const streams = startStreams();
    const reader = await open(streams, newOrganization());
    const { database } = server;
    const row = database.row.bind(database);
    database.row = () => Promise.reject(new Error('on purpose'));
    await streams.keepAlive();
    database.row = row;
    await reader.until(({ comments }) => comments === 1);
    expect(reader.hasEnded).toBe(false);
  });
});

describe('a limit of streams', () => {
  it('refuses further streams of a caller, and of all callers, with its name', async () => {
    const { id } = await makeOrganization(server, 'barn');
    const ada = await makeMember(server, 'barn', 'ada-barn');
    const streams = startStreams({ total: 3, perCaller: 2 });
    const first = await open(streams, id);
    await open(streams, id);
    await expect(open(streams, id)).rejects.toMatchObject({
      kind: 'too-many',
      retryAfter: 10,
      message: expect.stringMatching(/^At most 2 live streams .*\(CADASTRE_MAX_LIVE_STREAMS_PER_CALLER\)/),
    });
    const own = await open(streams, id, null, ada.token);
    await expect(open(streams, id, null, ada.token)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringMatching(/as it accepts, 3 \(CADASTRE_MAX_LIVE_STREAMS\)/),
    });
    for (const reader of [first, own]) {
      reader.close();
      await reader.endReason();
    }
    await open(streams, id);
    await open(streams, id, null, ada.token);
  });
});

describe('when the server stops, it', () => {
  it('ends all streams with the pause before the next attempt, and refuses others', async () => {
    const streams = startStreams();
    const readers = await Promise.all(Array.from({ length: 5 }, () => open(streams, newOrganization())));
    await streams.onModuleDestroy();
    for (const reader of readers) expect(await reader.endReason()).toBe('stopping');
    expect(new Set(readers.map(({ retryMs }) => retryMs)).size).toBe(5);
    await expect(open(streams, newOrganization())).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('does not wait for clients that do not read', async () => {
    const streams = startStreams();
    const body = await openBody(streams, newOrganization());
    const closed = new Promise<void>((resolve) => body.once('close', resolve));
    await streams.onModuleDestroy();
    await closed;
    expect(body.destroyed).toBe(true);
  });
});

describe('an organization', () => {
  it('has a stream over HTTP whose end is clean when the gateway closes', async () => {
    const other = await startTestServer();
    await makeOrganization(other, 'dairy');
    const response = await StreamReader.request(other, 'dairy', other.adminToken);
    const reader = new StreamReader(response);
    await reader.until(({ messages }) => messages.length > 0);
    expectStatus(await other.get('/api/v2/organizations/dairy'), 200);
    await other.close();
    expect(await reader.endReason()).toBe('stopping');
    expect(response.complete).toBe(true);
  });
});
