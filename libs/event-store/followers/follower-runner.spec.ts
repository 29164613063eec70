import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../../test/support/database.js';
import { Refusal, sql, type Logger, type LogPosition, type RecordedEvent } from '#kernel';
import { FollowerRunner } from './follower-runner.js';
import { waitForFollower, LOG_START, UNREAD_MAX, writeCheckpoint, type Follower } from './follower.js';
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
let house: TestEventStore;
const running = new Set<FollowerRunner>();

beforeEach(async () => {
  testDatabase = await freshDatabase();
  house = await TestEventStore.over(testDatabase.url);
});
afterEach(async () => {
  await Promise.all([...running].map((runner) => runner.stop()));
  running.clear();
  await house.close();
  await testDatabase.drop();
});

const sighting = ({ position, id, stream }: RecordedEvent) =>
  sql`insert into sightings (position, event, stream) values (${position}, ${id}, ${stream})`;

/** Writes down what it sees; `before` is asked first, and may fail or take its time. */
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

type Said = { readonly text: string; readonly context: Readonly<Record<string, unknown>> };

const run = (follower: Follower): { readonly runner: FollowerRunner; readonly said: readonly Said[] } => {
  const said: Said[] = [];
  const keep = (context: object, text: string): void =>
    void said.push({ text, context: context as Readonly<Record<string, unknown>> });
  const logger: Logger = { debug: keep, info: keep, warn: keep };
  const runner = new FollowerRunner(house.store, follower, logger);
  running.add(runner);
  runner.start();
  return { runner, said };
};

const leads = ({ said }: { readonly said: readonly Said[] }): boolean =>
  said.some(({ text }) => text === 'follower leads');

const seen = async (): Promise<unknown[]> =>
  (await house.database.rows(sql`select event from sightings order by position`)).map((row) => row['event']);
const logged = async (): Promise<unknown[]> =>
  (await house.database.rows(sql`select id from event_store.events order by position`)).map((row) => row['id']);
const checkpoint = () =>
  house.database.row(sql`select transaction::text as transaction, position from event_store.checkpoints`);

const light = async (times: number): Promise<void> => {
  for (let time = 0; time < times; time += 1) await house.append('lamp-1', 'any', createLampLit(`user-${time}`));
};

/** As above, and what was written may be read: no transaction of another database of this server holds it back. */
const lightAndSettle = async (times: number): Promise<void> => {
  await light(times);
  const read = () => house.store.read(LOG_START, times, (statement) => house.database.rows(statement));
  await waitForCondition(async () => (await read()).length === times);
};

const expectAllSeenOnce = async (): Promise<void> => {
  await waitForFollower(house.database, 'watchman');
  expect(await seen()).toEqual(await logged());
};

describe('a follower', () => {
  it('gets the whole log in order, what was there before it and what comes after', async () => {
    await light(7);
    run(watchman());
    await light(7);
    await expectAllSeenOnce();
    expect(await checkpoint()).toEqual(
      await house.database.row(sql`
        select transaction::text as transaction, position from event_store.events order by position desc limit 1`),
    );
  });

  it('gets at most a batch at a time', async () => {
    await lightAndSettle(10);
    const sizes: number[] = [];
    run(watchman((events) => void sizes.push(events.length)));
    await expectAllSeenOnce();
    expect(sizes).toEqual([3, 3, 3, 1]);
  });

  it('that asks for some types only gets all of those, hardly any others, and is as far as the log all the same', async () => {
    const hangAndLight = async (n: number): Promise<void> => {
      await house.append(`lamp-${n}`, 0, lampHung(`hall ${n}`));
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
    await waitForFollower(house.database, 'watchman');
    await hangAndLight(4);
    await waitForFollower(house.database, 'watchman');
    await first.runner.stop();
    for (const n of [5, 6]) await hangAndLight(n);
    run(picky);
    await waitForFollower(house.database, 'watchman');
    const log = await house.database.rows<{ id: string }>(
      sql`select id from event_store.events where type = 'LampHung' order by position`,
    );
    expect(await seen()).toEqual(log.map(({ id }) => id));
    expect(log).toHaveLength(5);
    // 35 others are in the log; the last of each batch comes along.
    expect(got.filter((event) => !isHung(event)).length).toBeLessThan(20);
  });

  it('goes on where its predecessor stopped', async () => {
    await light(4);
    const first = run(watchman());
    await expectAllSeenOnce();
    await first.runner.stop();
    await light(4);
    run(watchman());
    await expectAllSeenOnce();
  });

  it('sees what commits late, once, and in its place', async () => {
    const order: string[] = [];
    run(watchman((events) => void order.push(...events.map(({ id }) => id))));
    const clients = await Promise.all(Array.from({ length: 6 }, () => house.connect()));
    for (const [n, client] of clients.entries()) {
      await client.query('begin');
      await appendOn(client, `late-${n}`, `0190f3a0-0000-7000-9000-00000000000${n}`);
    }
    await light(3);
    for (const client of clients.toReversed()) {
      await client.query('commit');
      await light(1);
    }
    await expectAllSeenOnce();
    const log = await house.database.rows(sql`select id from event_store.events order by transaction, position`);
    expect(order).toEqual(log.map((row) => row['id']));
  });

  it('has written nothing of a batch whose checkpoint is not written, and no checkpoint without the batch', async () => {
    await lightAndSettle(2);
    await house.database.rows(sql.raw('alter table sightings add constraint one_only check (position < 2)'));
    const { said } = run(watchman());
    await waitForCondition(() => said.some(({ text }) => text.startsWith('follower failed')));
    expect(await seen()).toEqual([]);
    expect(await checkpoint()).toBeUndefined();
    await house.database.rows(sql.raw('alter table sightings drop constraint one_only'));
    await expectAllSeenOnce();
  });

  it('retries a batch that failed until it succeeds, and skips nothing', async () => {
    await lightAndSettle(5);
    const tried: string[][] = [];
    const { said } = run(
      watchman((events) => {
        tried.push(events.map(({ id }) => id));
        if (tried.length <= 3) throw new Error('asleep');
      }),
    );
    await expectAllSeenOnce();
    expect(new Set(tried.slice(0, 4).map((ids) => ids.join())).size).toBe(1);
    expect(said.filter(({ text }) => text !== 'follower leads')).toMatchObject([
      { text: 'follower failed, will retry', context: { follower: 'watchman', retryInMs: 100 } },
      { text: 'follower recovered', context: { follower: 'watchman', failures: 3 } },
    ]);
  });

  it('goes on when its connection is cut', async () => {
    const follower = run(watchman());
    await light(2);
    await expectAllSeenOnce();
    // Several connections have its name: it is the one that holds the lock.
    const client = await house.connect();
    await client.query(`select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`);
    await waitForCondition(() => follower.said.filter(({ text }) => text === 'follower leads').length === 2);
    await light(2);
    await expectAllSeenOnce();
  });
});

describe('two runners of one follower', () => {
  it('take turns: one leads, the other stands by until the first is gone', async () => {
    const handled = { first: 0, second: 0 };
    const first = run(watchman((events) => void (handled.first += events.length)));
    await waitForCondition(() => leads(first));
    const second = run(watchman((events) => void (handled.second += events.length)));
    await light(9);
    await expectAllSeenOnce();
    expect(handled).toEqual({ first: 9, second: 0 });
    expect(leads(second)).toBe(false);
    await first.runner.stop();
    await waitForCondition(() => leads(second));
    await light(4);
    await expectAllSeenOnce();
    expect(handled).toEqual({ first: 9, second: 4 });
  });

  it('connect once a second while they stand by', async () => {
    const first = run(watchman());
    await waitForCondition(() => leads(first));
    const session = jest.spyOn(house.database, 'session');
    try {
      const started = performance.now();
      run(watchman());
      await waitForCondition(() => session.mock.calls.length === 4);
      expect(performance.now() - started).toBeGreaterThan(2_900);
    } finally {
      session.mockRestore();
    }
  });

  it('are not two runners of different followers', async () => {
    await light(2);
    const one = run(watchman());
    const other = run({ ...watchman(), name: 'neighbour', tables: [], follow: () => Promise.resolve([]) });
    await waitForCondition(() => leads(one) && leads(other));
    await waitForFollower(house.database, 'neighbour');
    await expectAllSeenOnce();
  });
});

describe('a rebuild beside a runner', () => {
  it('does not make it tell a batch twice that it had in hand', async () => {
    await lightAndSettle(4);
    const [view] = listViews([{ ...lampDefinition, projections: [], followers: [watchman()] }]);
    if (!view) throw new Error('the follower is no view');
    let held = 0;
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const { said } = run(
      watchman(() => {
        held += 1;
        return gate;
      }),
    );
    await waitForCondition(() => held === 1);
    await rebuildView(house.store, view, { now: new Date() });
    expect(await seen()).toEqual(await logged());
    release();
    await light(2);
    await expectAllSeenOnce();
    expect(said.map(({ text }) => text)).toEqual([
      'follower leads',
      'follower failed, will retry',
      'follower leads',
      'follower recovered',
    ]);
  });
});

describe('caughtUp', () => {
  it('waits until the follower has read all that was in the log', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    await light(2);
    run(watchman(() => gate));
    let passed = false;
    const waiting = waitForFollower(house.database, 'watchman').then(() => (passed = true));
    await house.database.rows(sql`select 1 as one`);
    expect(passed).toBe(false);
    release();
    await waiting;
    expect(await seen()).toHaveLength(2);
  });

  it('has nothing to wait for in an empty log', async () => {
    await expect(waitForFollower(house.database, 'nobody')).resolves.toBeUndefined();
  });

  it('waits for events of some types only, where a follower cares for no others', async () => {
    await light(2);
    await expect(waitForFollower(house.database, 'nobody', { only: ['LampHung'] })).resolves.toBeUndefined();
    await house.append('lamp-2', 0, lampHung('cellar'));
    await light(2);
    let passed = false;
    const waiting = waitForFollower(house.database, 'watchman', { only: ['LampHung'] }).then(() => (passed = true));
    await house.database.rows(sql`select 1 as one`);
    expect(passed).toBe(false);
    run(watchman());
    await waiting;
    expect(await seen()).toContain((await house.store.stream('lamp-2')).at(-1)?.id);
  });

  it('waits for events of one organization only, whatever stands behind them in the log', async () => {
    const of = (organization: string) => ({ organization: sql`${organization}::text` });
    await light(2);
    await expect(waitForFollower(house.database, 'nobody', of('org-2'))).resolves.toBeUndefined();
    let released = (): void => undefined;
    const gate = new Promise<void>((resolve) => (released = resolve));
    let hasRead = (): void => undefined;
    const read = new Promise<void>((resolve) => (hasRead = resolve));
    // The first batch passes the events of org-1, the next one stays with those of org-2.
    run({
      ...watchman(async (events) => {
        if (!events.some(({ organization }) => organization === 'org-2')) return;
        hasRead();
        await gate;
      }),
      batch: 3,
    });
    await waitForFollower(house.database, 'watchman');
    await house.store.append(
      [{ stream: 'lamp-9', organization: 'org-2', expected: 0, events: [lampHung('attic')] }],
      context,
    );
    await read;
    await expect(waitForFollower(house.database, 'watchman', of('org-1'))).resolves.toBeUndefined();
    await expect(waitForFollower(house.database, 'watchman', of('org-3'))).resolves.toBeUndefined();
    let passed = false;
    const waiting = waitForFollower(house.database, 'watchman', of('org-2')).then(() => (passed = true));
    const unknown = waitForFollower(house.database, 'watchman', { organization: sql`null::text` });
    await house.database.rows(sql`select 1 as one`);
    expect(passed).toBe(false);
    released();
    await Promise.all([waiting, unknown]);
  });

  it('waits for events that it does not look through if the follower is far behind', async () => {
    await light(1);
    await house.database.rows(sql`
      insert into event_store.events (id, stream, version, type, schema_version, organization, time, data, context)
      select gen_random_uuid(), 'lamp-9', n, 'LampLit', 1, 'org-2', now(), '{}', '{}'
        from generate_series(1, ${UNREAD_MAX}::integer) n`);
    let passed = false;
    const waiting = waitForFollower(house.database, 'nobody', { organization: sql`'org-1'::text` }).then(
      () => (passed = true),
    );
    await house.database.rows(sql`select 1 as one`);
    expect(passed).toBe(false);
    const [first] = await house.database.rows<LogPosition>(sql`
      select transaction::text as transaction, position from event_store.events where organization = 'org-2'
       order by position limit 1`);
    await house.database.rows(writeCheckpoint('nobody', first as LogPosition));
    await waiting;
    await expect(
      waitForFollower(house.database, 'nobody', { organization: sql`'org-1'::text` }),
    ).resolves.toBeUndefined();
  });

  it('gives up after five seconds, and says when to come again', async () => {
    await house.append('lamp-1', 0, lampHung('cellar'));
    const started = performance.now();
    const refusal: unknown = await waitForFollower(house.database, 'nobody').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal).toMatchObject({ kind: 'unavailable', retryAfter: 5 });
    expect(performance.now() - started).toBeGreaterThan(4_900);
  });
});
