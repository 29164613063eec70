import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { sql, type LogPosition, type Logger, type RecordedEvent } from '#platform/kernel';
import { FollowerRunner } from './follower-runner.js';
import type { Follower } from './follower.js';
import { listenForLog, notifyOthers, parseReadRequest } from './log-signal.js';
import { waitForFollower } from './wait-for-follower.js';
import type { LogPage } from '../log-reader.js';
import { LOG_START } from '../log-positions.js';
import { rebuildView } from '../rebuild/rebuild.js';
import { listViews, type RebuildableView } from '../rebuild/views.js';
import { context, createLampLit, lampDefinition, lampHung, TestEventStore, waitForCondition } from '../spec.js';

let testDatabase: TestDatabase;
let testStore: TestEventStore;
let otherProcess: TestEventStore;
const running = new Set<FollowerRunner>();

beforeEach(async () => {
  testDatabase = await freshDatabase();
  testStore = await TestEventStore.over(testDatabase.url);
  otherProcess = TestEventStore.ofVersion(testDatabase.url, lampDefinition);
  const client = await testStore.connect();
  for (const table of ['seen_a', 'seen_b']) {
    await client.query(`create table views.${table} (position bigint primary key, event uuid not null)`);
  }
});
afterEach(async () => {
  await Promise.all([...running].map((runner) => runner.stop()));
  running.clear();
  await otherProcess.close();
  await testStore.close();
  await testDatabase.drop();
});

type FollowerWork = (events: readonly RecordedEvent[]) => Promise<void> | void;

/** A follower that records the events it gets in a table of its own. `before` runs first and may fail or wait. */
const recorder = (name: 'a' | 'b', before: FollowerWork = () => undefined): Follower => ({
  name,
  batch: 100,
  version: 1,
  tables: [`seen_${name}`],
  follow: async (events) => {
    await before(events);
    return events.map(
      ({ position, id }) => sql`insert into ${sql.raw(`seen_${name}`)} (position, event) values (${position}, ${id})`,
    );
  },
});

/** A follower with effects outside the database. */
const outsider = (before: FollowerWork): Follower => ({
  name: 'outsider',
  batch: 100,
  tables: [],
  follow: async (events) => {
    await before(events);
    return [];
  },
});

type StartedRunner = { readonly runner: FollowerRunner; readonly texts: readonly string[] };

const run = (follower: Follower, { store } = testStore): StartedRunner => {
  const texts: string[] = [];
  const record = (_: object, text: string): void => void texts.push(text);
  const logger: Logger = { debug: record, info: record, warn: record };
  const runner = new FollowerRunner(store, follower, logger);
  running.add(runner);
  runner.start();
  return { runner, texts };
};

const light = async (times = 1): Promise<void> => {
  for (let time = 0; time < times; time += 1) await testStore.append('lamp-1', 'any', createLampLit('ada'));
};

const listSeen = async (name: 'a' | 'b'): Promise<unknown[]> =>
  (await testStore.database.rows(sql`select event from ${sql.raw(`seen_${name}`)} order by position`)).map(
    (row) => row['event'],
  );

const listLogged = async (): Promise<unknown[]> =>
  (await testStore.database.rows(sql`select id from event_store.events order by transaction, position`)).map(
    (row) => row['id'],
  );

const expectEachEventOnce = async (...names: readonly ('a' | 'b')[]): Promise<void> => {
  for (const name of names) {
    await waitForFollower(testStore.database, name);
    expect([name, await listSeen(name)]).toEqual([name, await listLogged()]);
  }
};

/** Returns the number of locks that each connection holds for followers. */
const listLockCounts = async (): Promise<readonly number[]> => {
  const rows = await testStore.database.rows<{ locks: number }>(sql`
    select count(*)::integer as locks from pg_locks
     where locktype = 'advisory' and objsubid = 1 and granted
       and database = (select oid from pg_database where datname = current_database())
     group by pid`);
  return rows.map(({ locks }) => locks);
};

/** Resolves when the followers of this process share one connection. */
const haveJoined = (followers: number): Promise<void> =>
  waitForCondition(async () => {
    const counts = await listLockCounts();
    return counts.length === 1 && counts[0] === followers;
  });

/** Returns the transactions that stored the checkpoints last. */
const listCheckpointWriters = async (): Promise<readonly string[]> =>
  (
    await testStore.database.rows<{ writer: string }>(
      sql`select xmin::text as writer from event_store.checkpoints order by follower`,
    )
  ).map(({ writer }) => writer);

const getView = (follower: Follower): RebuildableView => {
  const [view] = listViews([{ ...lampDefinition, projections: [], followers: [follower] }]);
  if (!view) throw new Error('the follower is no view');
  return view;
};

describe('followers of one process that have caught up', () => {
  it('share one connection, and commit together', async () => {
    run(recorder('a'));
    run(recorder('b'));
    await haveJoined(2);
    await light();
    await expectEachEventOnce('a', 'b');
    const [a, b] = await listCheckpointWriters();
    expect(a).toBe(b);
  });

  it('store the position of a follower without events together with the work of others', async () => {
    run(recorder('a'));
    run({ ...recorder('b'), only: ['LampHung'] });
    await haveJoined(2);
    await light();
    await expectEachEventOnce('a');
    const [a, b] = await listCheckpointWriters();
    expect(b).toBe(a);
  });

  it('read each event of the log once', async () => {
    run(recorder('a'));
    run(recorder('b'));
    const got: string[] = [];
    run(outsider((events) => void got.push(...events.map(({ id }) => id))));
    await haveJoined(3);
    const read = jest.spyOn(testStore.store.log, 'readPage');
    try {
      for (let n = 0; n < 3; n += 1) {
        await light();
        await expectEachEventOnce('a', 'b');
        await waitForFollower(testStore.database, 'outsider');
      }
      const pages = await Promise.all(read.mock.results.map(({ value }) => value as Promise<LogPage>));
      expect(pages.flatMap(({ events }) => events).map(({ id }) => id)).toEqual(await listLogged());
      expect(got).toEqual(await listLogged());
    } finally {
      read.mockRestore();
    }
  });

  it('get only events of the types in their filters', async () => {
    const got: string[] = [];
    const record: FollowerWork = (events) => void got.push(...events.map(({ type }) => type));
    run(recorder('a'));
    run({ ...outsider(record), only: ['LampHung'] });
    await haveJoined(2);
    await light(2);
    await testStore.append('lamp-2', 0, lampHung('hall'));
    await light(2);
    await expectEachEventOnce('a');
    await waitForFollower(testStore.database, 'outsider');
    expect(got).toEqual(['LampHung']);
  });

  it('are led by another process after this one has stopped, and by one process at a time', async () => {
    const handled = { first: 0, second: 0 };
    const first = [
      run(recorder('a', (events) => void (handled.first += events.length))),
      run(recorder('b', (events) => void (handled.first += events.length))),
    ];
    await haveJoined(2);
    run(
      recorder('a', (events) => void (handled.second += events.length)),
      otherProcess,
    );
    run(
      recorder('b', (events) => void (handled.second += events.length)),
      otherProcess,
    );
    await light(3);
    await expectEachEventOnce('a', 'b');
    expect(handled).toEqual({ first: 6, second: 0 });
    await Promise.all(first.map(({ runner }) => runner.stop()));
    await light(2);
    await haveJoined(2);
    await expectEachEventOnce('a', 'b');
    expect(handled).toEqual({ first: 6, second: 4 });
  });

  it('continue after their connection was cut between the events and the commit', async () => {
    const followed = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    let isGated = false;
    const runs = [
      run(recorder('a')),
      run(
        recorder('b', () => {
          if (!isGated) return undefined;
          followed.resolve();
          return gate.promise;
        }),
      ),
    ];
    await haveJoined(2);
    isGated = true;
    await light(2);
    await followed.promise;
    const client = await testStore.connect();
    await client.query(`select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`);
    isGated = false;
    gate.resolve();
    await light(2);
    await expectEachEventOnce('a', 'b');
    for (const { texts } of runs) {
      expect(texts).toEqual(['follower leads', 'follower failed, will retry', 'follower leads', 'follower recovered']);
    }
    await haveJoined(2);
  });
});

describe('a follower of a group', () => {
  it.each(['while it handles events', 'when it commits'])('stops no other if it fails %s', async (when) => {
    let isBroken = false;
    const good = run(recorder('a'));
    const broken = run(
      recorder('b', () => {
        if (isBroken && when === 'while it handles events') throw new Error('asleep');
      }),
    );
    await haveJoined(2);
    if (when === 'when it commits') {
      await testStore.database.rows(sql.raw('alter table seen_b add constraint nothing check (false)'));
    }
    isBroken = true;
    await light(2);
    await expectEachEventOnce('a');
    await waitForCondition(() => broken.texts.includes('follower failed, will retry'));
    await light(2);
    await expectEachEventOnce('a');
    expect(await listSeen('b')).toEqual([]);
    isBroken = false;
    if (when === 'when it commits') {
      await testStore.database.rows(sql.raw('alter table seen_b drop constraint nothing'));
    }
    await expectEachEventOnce('b');
    expect(good.texts).toEqual(['follower leads']);
    expect(broken.texts.at(-1)).toBe('follower recovered');
    await haveJoined(2);
    await light();
    await expectEachEventOnce('a', 'b');
  });

  it('does not delay others while its effects outside the database take long', async () => {
    const gate = Promise.withResolvers<void>();
    const got: string[] = [];
    const sizes: number[] = [];
    let isSlow = false;
    run(recorder('a'));
    run(
      outsider(async (events) => {
        if (isSlow) await gate.promise;
        got.push(...events.map(({ id }) => id));
        sizes.push(events.length);
      }),
    );
    await haveJoined(2);
    isSlow = true;
    for (let n = 0; n < 3; n += 1) {
      await light();
      await expectEachEventOnce('a');
    }
    expect(got).toEqual([]);
    gate.resolve();
    await waitForFollower(testStore.database, 'outsider');
    expect(got).toEqual(await listLogged());
    // The events that came while it worked are one batch.
    expect(sizes).toEqual([1, 2]);
  });

  it.each([
    ['all events', {}],
    ['some types of events, so that it stores its position rarely', { only: ['LampHung', 'LampLit'] }],
  ])('gets events that it has no room for later, from the log, and none twice, if it needs %s', async (_, filter) => {
    const gate = Promise.withResolvers<void>();
    const got: string[] = [];
    let isSlow = false;
    run(recorder('a'));
    const { texts } = run({
      ...outsider(async (events) => {
        if (isSlow) await gate.promise;
        got.push(...events.map(({ id }) => id));
      }),
      ...filter,
    });
    await haveJoined(2);
    isSlow = true;
    await light();
    await expectEachEventOnce('a');
    await testStore.database.rows(sql`
      insert into event_store.events (id, stream, version, type, schema_version, organization, time, data, context)
      select gen_random_uuid(), 'lamp-9', n, 'LampLit', 1, 'org-1', now(), '{"by": "ada"}', ${sql.json(context)}
        from generate_series(1, 1500) n`);
    await expectEachEventOnce('a');
    gate.resolve();
    await waitForFollower(testStore.database, 'outsider');
    expect(got).toEqual(await listLogged());
    expect(texts).toEqual(['follower leads', 'follower leads']);
    await haveJoined(2);
  });

  it('handles events that take long on a connection of its own', async () => {
    const gate = Promise.withResolvers<void>();
    run(recorder('a'));
    const slow = run({
      ...recorder('b', (events) => (events.some(({ type }) => type === 'LampHung') ? gate.promise : undefined)),
      slow: ['LampHung'],
    });
    await haveJoined(2);
    await light();
    await expectEachEventOnce('a', 'b');
    await testStore.append('lamp-2', 0, lampHung('hall'));
    await light();
    await expectEachEventOnce('a');
    await waitForCondition(() => slow.texts.length === 2);
    await light();
    await expectEachEventOnce('a');
    expect(await listSeen('b')).toHaveLength(1);
    gate.resolve();
    await expectEachEventOnce('b');
    expect(slow.texts).toEqual(['follower leads', 'follower leads']);
    await haveJoined(2);
  });

  it('reads alone until it has caught up with the others', async () => {
    await light(30);
    run(recorder('a'));
    await expectEachEventOnce('a');
    const gate = Promise.withResolvers<void>();
    const sizes: number[] = [];
    run({
      ...recorder('b', (events) => {
        sizes.push(events.length);
        return gate.promise;
      }),
      batch: 10,
    });
    await waitForCondition(() => sizes.length === 1);
    await light(3);
    await expectEachEventOnce('a');
    gate.resolve();
    await haveJoined(2);
    await light(3);
    await expectEachEventOnce('a', 'b');
    expect(Math.max(...sizes)).toBe(10);
  });

  it('begins again after a rebuild of its view, while the others continue', async () => {
    const followed = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    let isGated = false;
    const other = run(recorder('a'));
    const rebuilt = run(
      recorder('b', () => {
        if (!isGated) return undefined;
        followed.resolve();
        return gate.promise;
      }),
    );
    await haveJoined(2);
    await light(2);
    await expectEachEventOnce('a', 'b');
    isGated = true;
    await light(2);
    await followed.promise;
    const read = () => testStore.store.log.read(LOG_START, 4, (statement) => testStore.database.rows(statement));
    await waitForCondition(async () => (await read()).length === 4);
    await rebuildView(testStore.store, getView(recorder('b')), { now: new Date() });
    expect(await listSeen('b')).toEqual(await listLogged());
    gate.resolve();
    await light(2);
    await expectEachEventOnce('a', 'b');
    expect(other.texts).toEqual(['follower leads']);
    expect(rebuilt.texts.slice(0, 3)).toEqual(['follower leads', 'follower failed, will retry', 'follower leads']);
  });

  it('stops alone, and the others continue', async () => {
    const first = run(recorder('a'));
    run(recorder('b'));
    await haveJoined(2);
    await first.runner.stop();
    expect(await listLockCounts()).toEqual([1]);
    await light(2);
    await expectEachEventOnce('b');
    expect(await listSeen('a')).toEqual([]);
    run(recorder('a'));
    await haveJoined(2);
    await expectEachEventOnce('a', 'b');
  });

  it('gets a request to read at once if a reader of another process waits for it', async () => {
    const gate = Promise.withResolvers<void>();
    run(recorder('a', () => gate.promise));
    const payloads: (string | undefined)[] = [];
    const client = await testStore.connect();
    client.on('notification', ({ payload }) => payloads.push(payload));
    await client.query('listen cadastre_log');
    await light();
    const waiting = waitForFollower(otherProcess.database, 'a');
    await waitForCondition(() => payloads.some((payload) => payload !== ''));
    gate.resolve();
    await waiting;
    expect(await listSeen('a')).toEqual(await listLogged());
    const [last] = await testStore.database.rows<LogPosition>(
      sql`select transaction::text as transaction, position from event_store.events`,
    );
    expect(payloads.map((payload = '') => parseReadRequest(payload))).toContainEqual({ follower: 'a', position: last });
  });
});

describe('a notification that the log has grown', () => {
  it('is sent only if another connection listens', async () => {
    const [listener, other] = [await testStore.database.session(), await otherProcess.database.session()];
    try {
      const own: number[] = [];
      const isSent = async () => (await testStore.database.rows(notifyOthers(own))).length > 0;
      expect(await isSent()).toBe(false);
      own.push(await listenForLog(listener));
      expect(await isSent()).toBe(false);
      await listenForLog(other);
      expect(await isSent()).toBe(true);
    } finally {
      await listener.close();
      await other.close();
    }
  });

  it('wakes the followers of this process directly', async () => {
    run(recorder('a'));
    await haveJoined(1);
    const wake = Promise.withResolvers<void>();
    const remove = testStore.store.signal.addListener({ backend: 0, wake: wake.resolve });
    await light();
    await wake.promise;
    remove();
    await expectEachEventOnce('a');
  });
});

describe('parseReadRequest', () => {
  it('returns null for the notification that the log has grown, and for any other text', () => {
    for (const payload of ['', 'a', 'a 1', 'a 1 x', 'a -1 2', 'a 1 2 3']) expect(parseReadRequest(payload)).toBeNull();
  });
});
