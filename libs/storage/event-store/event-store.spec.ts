import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../../test/support/database.js';
import { Refusal, sql, type EventContext, type RecordedEvent } from '#platform/kernel';
import type { EventStore } from './event-store.js';
import { newStream, decideWrite, type StreamWrite } from './writes.js';
import { LOG_START } from './log-positions.js';
import { getViolatedConstraint, isVersionConflictError, type QueryRunner } from '#platform/postgres';
import { verifySnapshots } from './rebuild/verify-snapshots.js';
import {
  appendOn,
  context,
  lampDefinition,
  lampHung,
  lamp,
  TestEventStore,
  createLampLit,
  waitForCondition,
} from './spec.js';

let testDatabase: TestDatabase;
let testStore: TestEventStore;
let store: EventStore;

beforeEach(async () => {
  testDatabase = await freshDatabase();
  testStore = await TestEventStore.over(testDatabase.url);
  store = testStore.store;
});
afterEach(async () => {
  await testStore.close();
  await testDatabase.drop();
});

const write = (stream: string, expected: StreamWrite['expected'], ...events: StreamWrite['events']): StreamWrite => ({
  stream,
  organization: 'org-1',
  expected,
  events,
});

const failureOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => null,
    (error: unknown) => error,
  );

const versionsOf = async (stream: string): Promise<number[]> =>
  (await store.log.stream(stream)).map((one) => one.version);
const rowsOf = (table: string) => testStore.database.rows(sql.raw(`select * from ${table} order by 1`));

/**
 * Reads the log in batches like a follower, until it has the given number of events and no more arrive. A committed
 * event may not be readable yet, because transactions in other databases of the same server delay it too.
 */
const readLog = async (batch: number, length: number): Promise<RecordedEvent[]> => {
  const read: RecordedEvent[] = [];
  for (;;) {
    const next = await store.log.read(read.at(-1) ?? LOG_START, batch, (statement) =>
      testStore.database.rows(statement),
    );
    read.push(...next);
    if (next.length === 0 && read.length >= length) return read;
  }
};

describe('an append', () => {
  it('numbers the events of a stream 1, 2, 3, and stores their data and context', async () => {
    await testStore.append('lamp-1', 0, lampHung('cellar', 60));
    await testStore.append('lamp-1', 1, createLampLit('ada'), createLampLit('bob'));
    const events = await store.log.stream('lamp-1');
    expect(events.map(({ version, type, data }) => [version, type, data])).toEqual([
      [1, 'LampHung', { room: 'cellar', watts: 60 }],
      [2, 'LampLit', { by: 'ada' }],
      [3, 'LampLit', { by: 'bob' }],
    ]);
    expect(events[0]).toMatchObject({
      stream: 'lamp-1',
      organization: 'org-1',
      time: '2026-11-21T12:00:00.000Z',
      schemaVersion: 2,
      context,
    });
  });

  it.each([
    ['lower than the stream’s', 1],
    ['higher than the stream’s', 3],
    ['of a stream that does not exist yet', 0],
  ])('is refused at a version %s', async (_, expected) => {
    await testStore.append('lamp-1', 0, lampHung('cellar'), createLampLit('ada'));
    expect(isVersionConflictError(await failureOf(testStore.append('lamp-1', expected, createLampLit('bob'))))).toBe(
      true,
    );
    expect(await versionsOf('lamp-1')).toEqual([1, 2]);
    expect(await rowsOf('lamps')).toMatchObject([{ lit_by: 'ada' }]);
  });

  it('is refused at any version of a stream that does not exist', async () => {
    expect(isVersionConflictError(await failureOf(testStore.append('lamp-1', 1, createLampLit('bob'))))).toBe(true);
    expect(await rowsOf('event_store.streams')).toEqual([]);
  });

  it('continues at the end of the stream if no version is expected', async () => {
    await testStore.append('lamp-1', 'any', lampHung('cellar'));
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => testStore.append('lamp-1', 'any', createLampLit(`user-${n}`))),
    );
    expect(await versionsOf('lamp-1')).toEqual(Array.from({ length: 21 }, (_, n) => n + 1));
    expect((await readLog(4, 21)).map(({ version }) => version)).toEqual(Array.from({ length: 21 }, (_, n) => n + 1));
  });

  it('writes several streams, their views and further statements, or none of them', async () => {
    await testStore.append('lamp-2', 0, lampHung('attic'));
    const both = (expected: number) =>
      store.append([write('lamp-1', 0, lampHung('cellar')), write('lamp-2', expected, createLampLit('ada'))], context, [
        sql`insert into sightings values (1, '0190f3a0-0000-7000-8000-000000000001', 'beside')`,
      ]);
    expect(isVersionConflictError(await failureOf(both(7)))).toBe(true);
    expect(await versionsOf('lamp-1')).toEqual([]);
    expect(await versionsOf('lamp-2')).toEqual([1]);
    expect(await rowsOf('lamps')).toHaveLength(1);
    expect(await rowsOf('sightings')).toEqual([]);
    await both(1);
    expect(await versionsOf('lamp-1')).toEqual([1]);
    expect(await versionsOf('lamp-2')).toEqual([1, 2]);
    expect(await rowsOf('lamps')).toMatchObject([{ lit_by: null }, { lit_by: 'ada' }]);
    expect(await rowsOf('sightings')).toHaveLength(1);
  });

  it('writes nothing to the log if a view refuses the event', async () => {
    await testStore.append('lamp-1', 0, lampHung('cellar'));
    expect(getViolatedConstraint(await failureOf(testStore.append('lamp-2', 0, lampHung('cellar'))))).toBe(
      'lamps_room_key',
    );
    expect(await versionsOf('lamp-2')).toEqual([]);
    expect(await rowsOf('event_store.streams')).toHaveLength(1);
  });

  it('resolves to the rows that were read in its transaction', async () => {
    const { events, rows } = await store.append([write('lamp-1', 0, lampHung('cellar'))], context, [
      sql`select room from lamps where id = ${'lamp-1'}`,
      sql`select version from event_store.streams`,
    ]);
    expect(events.map(({ type }) => type)).toEqual(['LampHung']);
    expect(rows).toEqual([[{ room: 'cellar' }], [{ version: 1 }]]);
  });

  it('refuses fields that the event’s schema does not name, and unknown event types', async () => {
    const leaking = { type: 'LampLit', data: { by: 'ada', password: 'hunter2' } } as const;
    await expect(testStore.append('lamp-1', 'any', leaking)).rejects.toThrow('unknown: password');
    await expect(store.append([write('lamp-1', 'any', { type: 'Unheard', data: {} })], context)).rejects.toThrow(
      'unknown event type Unheard',
    );
    expect(await rowsOf('event_store.events')).toEqual([]);
  });

  it('succeeds for exactly one of a hundred concurrent writers of one version', async () => {
    await testStore.append('lamp-1', 0, lampHung('cellar'));
    const failures = await Promise.all(
      Array.from({ length: 100 }, (_, n) => failureOf(testStore.append('lamp-1', 1, createLampLit(`user-${n}`)))),
    );
    expect(failures.filter((failure) => failure === null)).toHaveLength(1);
    expect(failures.filter(isVersionConflictError)).toHaveLength(99);
    expect(await versionsOf('lamp-1')).toEqual([1, 2]);
  });

  it('succeeds for exactly one of a hundred concurrent creators of a stream on different connections', async () => {
    const clients = await Promise.all(Array.from({ length: 10 }, () => testStore.connect()));
    const createStream = (n: number) => {
      const id = `0190f3a0-0000-7000-9000-${n.toString().padStart(12, '0')}`;
      const events = JSON.stringify([{ id, type: 'LampLit', schemaVersion: 1, data: { by: 'ada' } }]);
      return clients[n % 10]?.query(`select event_store.append('lamp-1', 0, null, now(), $2, $1, null, null)`, [
        events,
        context,
      ]);
    };
    const failures = await Promise.all(
      Array.from({ length: 100 }, (_, n) => failureOf(createStream(n) ?? Promise.reject(new Error('no connection')))),
    );
    expect(failures.filter((failure) => failure === null)).toHaveLength(1);
    expect(failures.filter(isVersionConflictError)).toHaveLength(99);
    expect(await versionsOf('lamp-1')).toEqual([1]);
  });
});

describe('the context of an event', () => {
  const createRequest = (id: string | null, overrides: Partial<EventContext> = {}): EventContext => ({
    ...context,
    request: { id, address: '192.0.2.7', userAgent: 'go-tfe' },
    correlation: id ?? '',
    ...overrides,
  });
  const uuid = (n: number): string => `0190f3a0-0000-4000-9000-${String(n).padStart(12, '0')}`;
  const lightLamp = (written: EventContext, stream = 'lamp-1') =>
    store.append([write(stream, 'any', createLampLit('ada'))], written);
  const readContexts = async () => (await readLog(10, 1)).map((event) => event.context);

  it('is stored once for all requests of a client', async () => {
    const contexts = [1, 2, 3].map((n) => createRequest(uuid(n)));
    for (const one of contexts) await lightLamp(one);
    expect(await rowsOf('event_store.contexts')).toHaveLength(1);
    expect(await readContexts()).toEqual(contexts);
    expect((await store.log.stream('lamp-1')).map((event) => event.context)).toEqual(contexts);
    expect(await verifySnapshots(store, [])).toEqual([]);
  });

  it('is stored for each caller, address and user agent', async () => {
    const contexts = [
      createRequest(uuid(1)),
      createRequest(uuid(1), { accessor: { id: 'user-1', type: 'users', name: 'eve' } }),
      createRequest(uuid(1), { request: { id: uuid(1), address: '192.0.2.8', userAgent: 'go-tfe' } }),
      createRequest(uuid(1), { request: { id: uuid(1), address: '192.0.2.7', userAgent: 'curl' } }),
      createRequest(uuid(1), { linkOf: 'user-2' }),
    ];
    for (const one of contexts) await lightLamp(one);
    expect(await rowsOf('event_store.contexts')).toHaveLength(contexts.length);
    expect(await readContexts()).toEqual(contexts);
  });

  it('is stored with the event if the request has no UUID, or if another event caused it', async () => {
    const contexts = [
      createRequest(null),
      createRequest('request-1'),
      createRequest(uuid(1).toUpperCase().replace('0190F', 'ABCDE')),
      createRequest(uuid(1), { correlation: uuid(2) }),
      createRequest(uuid(1), { causation: uuid(2) }),
    ];
    for (const one of contexts) await lightLamp(one);
    expect(await rowsOf('event_store.contexts')).toEqual([]);
    expect(await readContexts()).toEqual(contexts);
  });

  it('is stored with the event while another transaction adds the shared one, so that no append waits', async () => {
    // No person, because texts of people are encrypted before they come to Postgres.
    const [first, second, third] = [1, 2, 3].map((n) =>
      createRequest(uuid(n), { accessor: { id: 'runs', type: 'system', name: 'runs' } }),
    ) as [EventContext, EventContext, EventContext];
    const early = await testStore.connect();
    const events = JSON.stringify([{ id: uuid(9), type: 'LampLit', schemaVersion: 1, data: { by: 'ada' } }]);
    await early.query('begin');
    await early.query(`select event_store.append('lamp-1', null, null, now(), $2, $1, null, null)`, [events, first]);
    await lightLamp(second, 'lamp-2');
    await early.query('commit');
    await lightLamp(third, 'lamp-2');
    expect(await rowsOf('event_store.contexts')).toHaveLength(1);
    expect(await readContexts()).toEqual([first, second, third]);
  });

  it('is never changed or removed', async () => {
    await lightLamp(createRequest(uuid(1)));
    const client = await testStore.connect();
    for (const statement of [`update event_store.contexts set context = '{}'`, 'delete from event_store.contexts'])
      await expect(client.query(statement)).rejects.toThrow('event_store.contexts takes inserts only');
  });
});

describe('the log', () => {
  it.each([
    `update event_store.events set data = '{}'`,
    `update event_store.events set type = 'LampLit' where version = 99`,
    'delete from event_store.events',
    'truncate event_store.events',
    'truncate event_store.events, event_store.streams cascade',
  ])('allows only inserts: %s', async (statement) => {
    await testStore.append('lamp-1', 0, lampHung('cellar'));
    const client = await testStore.connect();
    await expect(client.query(statement)).rejects.toThrow('takes inserts only');
    expect(await versionsOf('lamp-1')).toEqual([1]);
  });

  it('contains an event from outside once by its id, however often it is appended', async () => {
    const uuid = (n: number) => `0190f3a0-0000-5000-9000-${String(n).padStart(12, '0')}`;
    const createWrite = (stream: string, ...numbers: number[]) => ({
      stream,
      organization: null,
      writer: null,
      events: numbers.map((n) => ({ type: 'LampSeen', data: { by: `visitor ${n}` }, id: uuid(n), context })),
    });
    expect([...(await store.appendOnce([createWrite('b', 1, 2), createWrite('a', 3)]))]).toEqual([
      uuid(3),
      uuid(1),
      uuid(2),
    ]);
    expect([...(await store.appendOnce([createWrite('b', 2, 4, 1)]))]).toEqual([uuid(4)]);
    expect([...(await store.appendOnce([createWrite('a', 3)]))]).toEqual([]);
    // In both orders, to show that no append waits for another one for ever.
    const racing = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        store.appendOnce(
          n % 2 ? [createWrite('a', 5, 6), createWrite('b', 7)] : [createWrite('b', 7), createWrite('a', 5, 6)],
        ),
      ),
    );
    expect(racing.flatMap((ids) => [...ids]).toSorted()).toEqual([uuid(5), uuid(6), uuid(7)]);
    expect(await versionsOf('a')).toEqual([1, 2, 3]);
    expect(await versionsOf('b')).toEqual([1, 2, 3, 4]);
    const events = await store.log.stream('b');
    expect(events.map(({ data }) => data)).toEqual([1, 2, 4, 7].map((n) => ({ by: `visitor ${n}` })));
    expect(await verifySnapshots(store, [])).toEqual([]);
  });

  it('refuses an event from outside that an inline view would have to show, and one whose version precondition fails', async () => {
    const lampSeen = { type: 'LampSeen', data: { by: 'ada' }, id: '0190f3a0-0000-5000-9000-000000000001', context };
    const write = (event: typeof lampSeen) => [{ stream: 'a', organization: null, writer: null, events: [event] }];
    await expect(store.appendOnce(write({ ...lampSeen, type: 'LampLit' }))).rejects.toThrow(
      'an inline view shows LampLit',
    );
    const lateAppend = store.appendOnce(write(lampSeen), [{ stream: 'lamp-1', version: 1 }]);
    expect(isVersionConflictError(await failureOf(lateAppend))).toBe(true);
    expect(await versionsOf('a')).toEqual([]);
    await testStore.append('lamp-1', 0, lampHung('cellar'));
    expect((await store.appendOnce(write(lampSeen), [{ stream: 'lamp-1', version: 1 }])).size).toBe(1);
  });

  it('upcasts old events for all readers', async () => {
    const client = await testStore.connect();
    const old = JSON.stringify([
      {
        id: '0190f3a0-0000-7000-9000-000000000001',
        type: 'LampHung',
        schemaVersion: 1,
        data: { room: 'attic' },
      },
    ]);
    await client.query(`select event_store.append('lamp-1', 0, null, now(), $2, $1, null, null)`, [old, context]);
    const currentEvent = { type: 'LampHung', schemaVersion: 2, data: { room: 'attic', watts: 40 } };
    expect(await store.log.stream('lamp-1')).toMatchObject([currentEvent]);
    expect(await readLog(10, 1)).toMatchObject([currentEvent]);
    expect((await store.load('lamp-1', lamp)).state).toEqual({ hung: true, watts: 40, litBy: null });
  });

  it('is read in the order of transaction ids, as numbers and not as text', async () => {
    const client = await testStore.connect();
    const insert = (transaction: number) =>
      client.query(
        `insert into event_store.events
           (transaction, id, stream, version, type, schema_version, time, data, context)
         values ($1, gen_random_uuid(), 'lamp-1', $2, 'LampLit', 1, now(), '{"by":"ada"}', $3)`,
        [String(transaction), transaction, context],
      );
    for (const transaction of [100, 98, 101, 99]) await insert(transaction);
    for (const batch of [1, 2, 3, 10]) {
      expect((await readLog(batch, 4)).map(({ version }) => version)).toEqual([98, 99, 100, 101]);
    }
  });
});

describe('transactions that commit late', () => {
  const idOf = (n: number): string => `0190f3a0-0000-7000-9000-${n.toString().padStart(12, '0')}`;

  it('delay events that were committed after they began, and precede them in the log', async () => {
    const early = await testStore.connect();
    await early.query('begin');
    await appendOn(early, 'lamp-1', idOf(1));
    await testStore.append('lamp-2', 0, lampHung('attic'));
    expect(await readLog(10, 0)).toEqual([]);
    // A reader of all committed events gets it.
    const committed = await store.log.read(LOG_START, 10, (statement) => testStore.database.rows(statement), {
      extent: 'committed',
    });
    expect(committed.map(({ stream }) => stream)).toEqual(['lamp-2']);
    await early.query('commit');
    expect((await readLog(10, 2)).map(({ stream }) => stream)).toEqual(['lamp-1', 'lamp-2']);
  });

  it('do not change the number of events that a filtered page covers, although positions go back', async () => {
    const early = await testStore.connect();
    await early.query('begin');
    await appendOn(early, 'lamp-1', idOf(1));
    await testStore.append('lamp-2', 0, lampHung('attic'));
    await testStore.append('lamp-3', 0, lampHung('cellar'));
    await appendOn(early, 'lamp-4', idOf(2));
    await early.query('commit');
    await readLog(10, 4);
    const run: QueryRunner = (statement) => testStore.database.rows(statement);
    const page = await store.log.readPage(LOG_START, 3, run, { only: ['LampMoved'] });
    expect(page.events.map(({ stream }) => stream)).toEqual(['lamp-2']);
    expect(page.length).toBe(3);
    expect(await store.log.readPage(LOG_START, 10, run, { only: ['LampMoved'] })).toMatchObject({ length: 4 });
  });

  it('delay nothing after they have failed', async () => {
    const early = await testStore.connect();
    await early.query('begin');
    await appendOn(early, 'lamp-1', idOf(1));
    await testStore.append('lamp-2', 0, lampHung('attic'));
    await early.query('rollback');
    expect((await readLog(10, 1)).map(({ stream }) => stream)).toEqual(['lamp-2']);
  });

  it('cause no follower to miss an event or to read one twice, in whatever order they end', async () => {
    const clients = await Promise.all(Array.from({ length: 12 }, () => testStore.connect()));
    const readEvents: RecordedEvent[] = [];
    const follow = async (): Promise<void> => {
      const next = await store.log.read(readEvents.at(-1) ?? LOG_START, 3, (statement) =>
        testStore.database.rows(statement),
      );
      readEvents.push(...next);
      if (next.length > 0) await follow();
    };
    const committed = new Set<string>();
    for (let round = 0; round < 6; round += 1) {
      for (const [n, client] of clients.entries()) {
        await client.query('begin');
        await appendOn(client, `lamp-${n}`, idOf(round * 100 + n));
        await appendOn(client, `lantern-${n}`, idOf(round * 100 + 50 + n));
      }
      // Every fifth transaction fails. The others commit in an order that changes in each round.
      for (const step of clients.keys()) {
        const n = (step * 5 + round) % clients.length;
        const isCommitted = (n + round) % 5 !== 0;
        await clients[n]?.query(isCommitted ? 'commit' : 'rollback');
        for (const id of isCommitted ? [idOf(round * 100 + n), idOf(round * 100 + 50 + n)] : []) committed.add(id);
        await follow();
      }
    }
    while (readEvents.length < committed.size) await follow();
    await follow();
    const ids = readEvents.map(({ id }) => id);
    expect(ids).toHaveLength(committed.size);
    expect(new Set(ids)).toEqual(committed);
    const versions = new Map<string, number[]>();
    for (const { stream, version } of readEvents) versions.set(stream, [...(versions.get(stream) ?? []), version]);
    for (const list of versions.values()) expect(list).toEqual(list.map((_, index) => index + 1));
  });
});

describe('an append to several streams', () => {
  // Uses a connection of its own, because a query on a shared one could wait behind a blocked statement.
  const waitingOf = (client: pg.Client) => async (): Promise<number> =>
    (
      await client.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).rows.length;

  it('keeps the order of versions in the log although another writer interferes', async () => {
    await testStore.append('lamp-1', 0, lampHung('cellar'));
    const otherStore = TestEventStore.ofVersion(testDatabase.url, lampDefinition);
    const holder = await testStore.connect();
    const waiting = waitingOf(await testStore.connect());
    await holder.query(`begin; update event_store.streams set decider = null where stream = 'lamp-1'`);
    // The append has its transaction id now, and waits. Meanwhile another writer appends to its second stream.
    const both = store.append(
      [write('lamp-1', 1, createLampLit('ada')), write('lamp-2', 'any', createLampLit('ada'))],
      context,
    );
    await waitForCondition(async () => (await waiting()) === 1);
    let done = false;
    const otherAppend = otherStore.append('lamp-2', 'any', createLampLit('bob')).then(() => (done = true));
    await waitForCondition(async () => done || (await waiting()) === 2);
    await holder.query('rollback');
    await Promise.all([both, otherAppend]);
    await otherStore.close();
    const versions = (await readLog(10, 4)).filter(({ stream }) => stream === 'lamp-2').map(({ version }) => version);
    expect(versions).toEqual([1, 2]);
  });
});

describe('handle', () => {
  const light = (by: string, stream = 'lamp-1') =>
    store.handle({
      decider: lamp,
      load: () => store.load(stream, lamp),
      command: () => ({ type: 'LightLamp', data: { by } }) as const,
      organization: () => 'org-1',
      context,
      read: () => [sql`select lit_by from lamps where id = ${stream}`],
    });

  it('lets one of a hundred concurrent commands win, and decides the others with its result', async () => {
    await testStore.append('lamp-1', 0, lampHung('cellar'));
    const failures = await Promise.all(Array.from({ length: 100 }, (_, n) => failureOf(light(`user-${n}`))));
    expect(failures.filter((failure) => failure === null)).toHaveLength(1);
    const [winner] = await rowsOf('lamps');
    for (const failure of failures.filter((one) => one !== null)) {
      expect(failure).toBeInstanceOf(Refusal);
      expect(failure).toMatchObject({ kind: 'conflict', message: `lit by ${String(winner?.['lit_by'])}` });
    }
    expect(await versionsOf('lamp-1')).toEqual([1, 2]);
  });

  it('appends nothing if no event is decided, and runs the reads', async () => {
    await testStore.append('lamp-1', 0, lampHung('cellar'));
    await light('ada');
    expect((await light('ada')).rows).toEqual([[{ lit_by: 'ada' }]]);
    expect(await versionsOf('lamp-1')).toEqual([1, 2]);
  });
});

describe('the state of a stream', () => {
  const state = { hung: true, watts: 40, litBy: null };
  const createLamp = () =>
    store.append(
      [
        decideWrite(lamp, newStream('lamp-1', lamp), 'org-1', {
          type: 'HangLamp',
          data: { room: 'cellar', watts: 40 },
        }),
      ],
      context,
    );

  it('is stored as a snapshot with its version, and loaded from there', async () => {
    await createLamp();
    // Stops the later notification of followers, which would be counted.
    store.signal.stop();
    const { count } = testStore.database;
    const before = count.statements;
    expect(await store.load('lamp-1', lamp)).toEqual({ stream: 'lamp-1', version: 1, state });
    expect(count.statements - before).toBe(1);
  });

  it('is folded from the events if an older version of the decider stored it', async () => {
    await createLamp();
    const newer = { ...lamp, version: lamp.version + 1, initial: { ...lamp.initial, litBy: 'nobody' } };
    expect((await store.load('lamp-1', newer)).state).toEqual({ ...state, litBy: 'nobody' });
  });

  it('is folded from the events after an append without a snapshot', async () => {
    await createLamp();
    await testStore.append('lamp-1', 'any', createLampLit('ada'));
    expect(await store.load('lamp-1', lamp)).toEqual({
      stream: 'lamp-1',
      version: 2,
      state: { ...state, litBy: 'ada' },
    });
  });
});
