import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { Refusal, sql, type Logger, type LogPosition, type RecordedEvent } from '#platform/kernel';
import { FollowerRunner, type FollowerRunnerOptions } from './follower-runner.js';
import type { Follower } from './follower.js';
import { writeCheckpoint } from './checkpoints.js';
import { LOG_START } from '../log-positions.js';
import { UNREAD_MAX, waitForFollower } from './wait-for-follower.js';
import { rebuildView } from '../rebuild/rebuild.js';
import { listViews } from '../rebuild/views.js';
import {
  appendOn,
  context,
  lampHung,
  TestEventStore,
  lampDefinition,
  createLampLit,
  waitForCondition,
} from '../spec.js';

let testDatabase: TestDatabase;
let testStore: TestEventStore;
const running = new Set<FollowerRunner>();

beforeEach(async () => {
  testDatabase = await freshDatabase();
  testStore = await TestEventStore.over(testDatabase.url);
});
afterEach(async () => {
  await Promise.all([...running].map((runner) => runner.stop()));
  running.clear();
  await testStore.close();
  await testDatabase.drop();
});

const sighting = ({ position, id, stream }: RecordedEvent) =>
  sql`insert into sightings (position, event, stream) values (${position}, ${id}, ${stream})`;

/** A follower that records the events it gets. `before` runs first and may fail or wait. */
const watchman = (before: (events: readonly RecordedEvent[]) => Promise<void> | void = () => undefined): Follower => ({
  name: 'watchman',
  batch: 3,
  version: 1,
  tables: ['sightings'],
  follow: async (events) => {
    await before(events);
    return events.map(sighting);
  },
});

type LoggedLine = {
  readonly level: 'debug' | 'info' | 'warn';
  readonly text: string;
  readonly context: Readonly<Record<string, unknown>>;
};

const run = (
  follower: Follower,
  options: FollowerRunnerOptions = {},
): { readonly runner: FollowerRunner; readonly lines: readonly LoggedLine[] } => {
  const lines: LoggedLine[] = [];
  const recordAt =
    (level: LoggedLine['level']) =>
    (context: object, text: string): void =>
      void lines.push({ level, text, context: context as Readonly<Record<string, unknown>> });
  const logger: Logger = { debug: recordAt('debug'), info: recordAt('info'), warn: recordAt('warn') };
  const runner = new FollowerRunner(testStore.store, follower, logger, options);
  running.add(runner);
  runner.start();
  return { runner, lines: lines };
};

const leads = ({ lines }: { readonly lines: readonly LoggedLine[] }): boolean =>
  lines.some(({ text }) => text === 'follower leads');

const listSightings = async (): Promise<unknown[]> =>
  (await testStore.database.rows(sql`select event from sightings order by position`)).map((row) => row['event']);
const logged = async (): Promise<unknown[]> =>
  (await testStore.database.rows(sql`select id from event_store.events order by position`)).map((row) => row['id']);
const checkpoint = () =>
  testStore.database.row(sql`select transaction::text as transaction, position from event_store.checkpoints`);

const light = async (times: number): Promise<void> => {
  for (let time = 0; time < times; time += 1) await testStore.append('lamp-1', 'any', createLampLit(`user-${time}`));
};

/**
 * Lights a lamp, and waits until the events can be read: transactions in other databases of the server may delay them.
 */
const lightAndSettle = async (times: number): Promise<void> => {
  await light(times);
  const read = () => testStore.store.log.read(LOG_START, times, (statement) => testStore.database.rows(statement));
  await waitForCondition(async () => (await read()).length === times);
};

const expectEachEventOnce = async (): Promise<void> => {
  await waitForFollower(testStore.database, 'watchman');
  expect(await listSightings()).toEqual(await logged());
};

describe('a follower', () => {
  it('gets the complete log in order, existing events and new ones', async () => {
    await light(7);
    run(watchman());
    await light(7);
    await expectEachEventOnce();
    expect(await checkpoint()).toEqual(
      await testStore.database.row(sql`
        select transaction::text as transaction, position from event_store.events order by position desc limit 1`),
    );
  });

  it('gets at most one batch at a time', async () => {
    await lightAndSettle(10);
    const sizes: number[] = [];
    run(watchman((events) => void sizes.push(events.length)));
    await expectEachEventOnce();
    expect(sizes).toEqual([3, 3, 3, 1]);
  });

  it('waits while the follower that it yields to catches up, and works while that one fails', async () => {
    await lightAndSettle(9);
    const order: string[] = [];
    const first = Promise.withResolvers<void>();
    let failures = 0;
    const leader: Follower = {
      ...watchman(),
      name: 'leader',
      tables: [],
      follow: async (events) => {
        await first.promise;
        order.push(...events.map(() => 'leader'));
        if (failures === 0) return [];
        failures += 1;
        throw new Error('the lamps are out');
      },
    };
    const yieldsTo = run(leader).runner;
    const second = run(
      watchman((events) => void order.push(...events.map(() => 'watchman'))),
      { yieldsTo },
    );
    await waitForCondition(() => leads(second));
    first.resolve();
    await waitForFollower(testStore.database, 'watchman');
    expect(order).toEqual([...Array<string>(9).fill('leader'), ...Array<string>(9).fill('watchman')]);

    failures = 1;
    await light(9);
    await waitForFollower(testStore.database, 'watchman');
    await expectEachEventOnce();
    await waitForCondition(() => failures > 2);
  });

  it('gets all events of the types in its filter and few others, and reads the log to its end', async () => {
    const hangAndLight = async (n: number): Promise<void> => {
      await testStore.append(`lamp-${n}`, 0, lampHung(`hall ${n}`));
      await light(7);
    };
    const isHung = ({ type }: RecordedEvent): boolean => type === 'LampHung';
    const got: RecordedEvent[] = [];
    const picky: Follower = {
      ...watchman(),
      batch: 4,
      only: ['LampHung'],
      follow: async (events) => {
        await Promise.resolve(got.push(...events));
        return events.filter(isHung).map(sighting);
      },
    };
    for (const n of [2, 3]) await hangAndLight(n);
    const first = run(picky);
    await waitForFollower(testStore.database, 'watchman');
    await hangAndLight(4);
    await waitForFollower(testStore.database, 'watchman');
    await first.runner.stop();
    for (const n of [5, 6]) await hangAndLight(n);
    run(picky);
    await waitForFollower(testStore.database, 'watchman');
    const log = await testStore.database.rows<{ id: string }>(
      sql`select id from event_store.events where type = 'LampHung' order by position`,
    );
    expect(await listSightings()).toEqual(log.map(({ id }) => id));
    expect(log).toHaveLength(5);
    // The log has 35 other events. Only the last event of each batch is passed on unfiltered.
    expect(got.filter((event) => !isHung(event)).length).toBeLessThan(20);
  });

  it('continues where its predecessor stopped', async () => {
    await light(4);
    const first = run(watchman());
    await expectEachEventOnce();
    await first.runner.stop();
    await light(4);
    run(watchman());
    await expectEachEventOnce();
  });

  it('gets an event that commits late, once and in its order', async () => {
    const order: string[] = [];
    run(watchman((events) => void order.push(...events.map(({ id }) => id))));
    const clients = await Promise.all(Array.from({ length: 6 }, () => testStore.connect()));
    for (const [n, client] of clients.entries()) {
      await client.query('begin');
      await appendOn(client, `late-${n}`, `0190f3a0-0000-7000-9000-00000000000${n}`);
    }
    await light(3);
    for (const client of clients.toReversed()) {
      await client.query('commit');
      await light(1);
    }
    await expectEachEventOnce();
    const log = await testStore.database.rows(sql`select id from event_store.events order by transaction, position`);
    expect(order).toEqual(log.map((row) => row['id']));
  });

  it('commits a batch and its checkpoint together or not at all', async () => {
    await lightAndSettle(2);
    await testStore.database.rows(sql.raw('alter table sightings add constraint one_only check (position < 2)'));
    const { lines } = run(watchman());
    await waitForCondition(() => lines.some(({ text }) => text.startsWith('follower failed')));
    expect(await listSightings()).toEqual([]);
    expect(await checkpoint()).toBeUndefined();
    await testStore.database.rows(sql.raw('alter table sightings drop constraint one_only'));
    await expectEachEventOnce();
  });

  it('retries a batch that failed until it succeeds, and skips nothing', async () => {
    await lightAndSettle(5);
    const tried: string[][] = [];
    const { lines } = run(
      watchman((events) => {
        tried.push(events.map(({ id }) => id));
        if (tried.length <= 3) throw new Error('asleep');
      }),
    );
    await expectEachEventOnce();
    expect(new Set(tried.slice(0, 4).map((ids) => ids.join())).size).toBe(1);
    expect(lines.filter(({ text }) => text !== 'follower leads')).toMatchObject([
      { text: 'follower failed, will retry', context: { follower: 'watchman', retryInMs: 100 } },
      { text: 'follower recovered', context: { follower: 'watchman', failures: 3 } },
    ]);
    const levels = lines.filter(({ text }) => text === 'follower leads').map(({ level }) => level);
    expect(levels).toEqual(['info', 'debug', 'debug', 'debug']);
  });

  it('continues after its connection was cut', async () => {
    const follower = run(watchman());
    await light(2);
    await expectEachEventOnce();
    // Several connections have its name. This is the one with the lock.
    const client = await testStore.connect();
    await client.query(`select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`);
    await waitForCondition(() => follower.lines.filter(({ text }) => text === 'follower leads').length === 2);
    await light(2);
    await expectEachEventOnce();
  });
});

describe('two runners of one follower', () => {
  it('take turns: one leads, the other stands by until the first has stopped', async () => {
    const handled = { first: 0, second: 0 };
    const first = run(watchman((events) => void (handled.first += events.length)));
    await waitForCondition(() => leads(first));
    const second = run(watchman((events) => void (handled.second += events.length)));
    await light(9);
    await expectEachEventOnce();
    expect(handled).toEqual({ first: 9, second: 0 });
    expect(leads(second)).toBe(false);
    await first.runner.stop();
    await waitForCondition(() => leads(second));
    await light(4);
    await expectEachEventOnce();
    expect(handled).toEqual({ first: 9, second: 4 });
  });

  it('connect once a second while they stand by', async () => {
    const first = run(watchman());
    await waitForCondition(() => leads(first));
    const session = jest.spyOn(testStore.database, 'session');
    try {
      const started = performance.now();
      run(watchman());
      await waitForCondition(() => session.mock.calls.length === 4);
      expect(performance.now() - started).toBeGreaterThan(2_900);
    } finally {
      session.mockRestore();
    }
  });

  it('both lead if they run different followers', async () => {
    await light(2);
    const one = run(watchman());
    const neighbour = run({ ...watchman(), name: 'neighbour', tables: [], follow: () => Promise.resolve([]) });
    await waitForCondition(() => leads(one) && leads(neighbour));
    await waitForFollower(testStore.database, 'neighbour');
    await expectEachEventOnce();
  });
});

describe('a rebuild while a follower runs', () => {
  it('does not make the follower process its current batch twice', async () => {
    await lightAndSettle(4);
    const [view] = listViews([{ ...lampDefinition, projections: [], followers: [watchman()] }]);
    if (!view) throw new Error('the follower is no view');
    let waitingBatches = 0;
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { lines } = run(
      watchman(() => {
        waitingBatches += 1;
        return gate;
      }),
    );
    await waitForCondition(() => waitingBatches === 1);
    await rebuildView(testStore.store, view, { now: new Date() });
    expect(await listSightings()).toEqual(await logged());
    release();
    await light(2);
    await expectEachEventOnce();
    expect(lines.map(({ text }) => text)).toEqual([
      'follower leads',
      'follower failed, will retry',
      'follower leads',
      'follower recovered',
    ]);
  });
});

describe('waitForFollower', () => {
  it('waits until the follower has read everything that was in the log', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    await light(2);
    run(watchman(() => gate));
    let passed = false;
    const waiting = waitForFollower(testStore.database, 'watchman').then(() => (passed = true));
    await testStore.database.rows(sql`select 1 as one`);
    expect(passed).toBe(false);
    release();
    await waiting;
    expect(await listSightings()).toHaveLength(2);
  });

  it('does not wait if the log is empty', async () => {
    await expect(waitForFollower(testStore.database, 'nobody')).resolves.toBeUndefined();
  });

  it('waits only for events of the types that the follower reads', async () => {
    await light(2);
    await expect(waitForFollower(testStore.database, 'nobody', { only: ['LampHung'] })).resolves.toBeUndefined();
    await testStore.append('lamp-2', 0, lampHung('cellar'));
    await light(2);
    let passed = false;
    const waiting = waitForFollower(testStore.database, 'watchman', { only: ['LampHung'] }).then(() => (passed = true));
    await testStore.database.rows(sql`select 1 as one`);
    expect(passed).toBe(false);
    run(watchman());
    await waiting;
    expect(await listSightings()).toContain((await testStore.store.log.stream('lamp-2')).at(-1)?.id);
  });

  it('waits only for events of one organization, whatever events follow in the log', async () => {
    const of = (organization: string) => ({ organization: sql`${organization}::text` });
    await light(2);
    await expect(waitForFollower(testStore.database, 'nobody', of('org-2'))).resolves.toBeUndefined();
    let released = (): void => undefined;
    const gate = new Promise<void>((resolve) => (released = resolve));
    let hasRead = (): void => undefined;
    const read = new Promise<void>((resolve) => (hasRead = resolve));
    // The first batch passes the events of org-1. The next one blocks at those of org-2.
    run({
      ...watchman(async (events) => {
        if (!events.some(({ organization }) => organization === 'org-2')) return;
        hasRead();
        await gate;
      }),
      batch: 3,
    });
    await waitForFollower(testStore.database, 'watchman');
    await testStore.store.append(
      [{ stream: 'lamp-9', organization: 'org-2', expected: 0, events: [lampHung('attic')] }],
      context,
    );
    await read;
    await expect(waitForFollower(testStore.database, 'watchman', of('org-1'))).resolves.toBeUndefined();
    await expect(waitForFollower(testStore.database, 'watchman', of('org-3'))).resolves.toBeUndefined();
    let passed = false;
    const waiting = waitForFollower(testStore.database, 'watchman', of('org-2')).then(() => (passed = true));
    const unknown = waitForFollower(testStore.database, 'watchman', { organization: sql`null::text` });
    await testStore.database.rows(sql`select 1 as one`);
    expect(passed).toBe(false);
    released();
    await Promise.all([waiting, unknown]);
  });

  it('waits for events without an organization too, because they can concern the organization', async () => {
    const wait = () => waitForFollower(testStore.database, 'watchman', { organization: sql`'org-1'::text` });
    const events = [lampHung('attic')];
    await testStore.store.append([{ stream: 'lamp-9', organization: null, expected: 0, events }], context);
    let passed = false;
    const waiting = wait().then(() => (passed = true));
    await testStore.database.rows(sql`select 1 as one`);
    expect(passed).toBe(false);
    run(watchman());
    await waiting;
    expect(await listSightings()).toEqual(await logged());
  });

  it('waits for events of other organizations if the follower is too far behind to search them', async () => {
    await light(1);
    await testStore.database.rows(sql`
      insert into event_store.events (id, stream, version, type, schema_version, organization, time, data, context)
      select gen_random_uuid(), 'lamp-9', n, 'LampLit', 1, 'org-2', now(), '{}', '{}'
        from generate_series(1, ${UNREAD_MAX}::integer) n`);
    let passed = false;
    const waiting = waitForFollower(testStore.database, 'nobody', { organization: sql`'org-1'::text` }).then(
      () => (passed = true),
    );
    await testStore.database.rows(sql`select 1 as one`);
    expect(passed).toBe(false);
    const [first] = await testStore.database.rows<LogPosition>(sql`
      select transaction::text as transaction, position from event_store.events where organization = 'org-2'
       order by position limit 1`);
    await testStore.database.rows(writeCheckpoint('nobody', first as LogPosition));
    await waiting;
    await expect(
      waitForFollower(testStore.database, 'nobody', { organization: sql`'org-1'::text` }),
    ).resolves.toBeUndefined();
  });

  it('throws after five seconds, with a Retry-After', async () => {
    await testStore.append('lamp-1', 0, lampHung('cellar'));
    const started = performance.now();
    const refusal: unknown = await waitForFollower(testStore.database, 'nobody').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal).toMatchObject({ kind: 'unavailable', retryAfter: 5 });
    expect(performance.now() - started).toBeGreaterThan(4_900);
  });
});
