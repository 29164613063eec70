import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../../test/support/database.js';
import { quiet } from '../../../test/support/silent-logger.js';
import {
  defineEvents,
  sql,
  type DataOf,
  type EventContext,
  type Message,
  type NameColumn,
  type Projection,
} from '#platform/kernel';
import {
  EventStore,
  FollowerRunner,
  listViews,
  rebuildView,
  toProjection,
  verifyView,
  waitForFollower,
  type Follower,
  type ModuleDefinition,
  type RebuildableView,
} from '#storage/event-store';
import { NameEraser } from './name-eraser.js';
import {
  CLOCK,
  context,
  CountedIds,
  TEST_ENCRYPTION_KEYS,
  TestEventStore,
  NOW,
  waitForCondition,
} from '../event-store/spec.js';
import { LOG_START } from '../event-store/log-positions.js';

/** A guest book: the view names each guest in three columns, and a guest can be forgotten. */
type SignedEvent =
  Message<'Signed', { guest: string; name: string; page: number }> | Message<'Struck', { guest: string }>;

const schema = <T extends SignedEvent['type']>() => ({ parse: (data: unknown) => data as DataOf<SignedEvent, T> });
const audit = { unaudited: 'a sample' };
const kinds = defineEvents(
  { topic: 'guests', stream: 'book', live: { unsent: 'a sample' } },
  {
    Signed: {
      schema: schema<'Signed'>(),
      audit,
      personal: ({ guest }) => [{ at: ['name'], person: guest, kind: 'name' }],
    },
    Struck: { schema: schema<'Struck'>(), audit, forgets: ({ guest }) => guest },
  },
);

const NAMES: readonly NameColumn[] = [
  { table: 'guests', column: 'guest' },
  { table: 'guests', column: 'more', at: ['signed', 'by'] },
  { table: 'guests', column: 'name', id: 'guest_id' },
];

const guests: Projection<SignedEvent> = {
  name: 'guests',
  version: 1,
  tables: ['guests'],
  names: NAMES,
  on: {
    Signed: ({ guest, name, page }) => {
      const one = { type: 'users', id: guest, name };
      return sql`insert into guests (book, page, guest, more, name, guest_id)
                 values ('red', ${page}, ${sql.json(one)}, ${sql.json({ signed: { by: one } })}, ${name}, ${guest})`;
    },
    Struck: null,
  },
};

/** A follower that copies the first guest from the rows that it wrote before. */
const chronicler = (meanwhile: () => Promise<void> = () => Promise.resolve()): Follower => ({
  name: 'chronicler',
  batch: 1,
  version: 1,
  tables: ['lines'],
  names: [{ table: 'lines', column: 'first' }],
  follow: async (events, session) => {
    const [firstLine] = await session.run<{ first: object }>(sql`select first from lines order by line limit 1`);
    await meanwhile();
    return events.map(({ position, data }) => {
      const { guest, name } = data as { guest: string; name: string };
      const first = firstLine?.first ?? { type: 'users', id: guest, name };
      return sql`insert into lines (line, first) values (${position}, ${sql.json(first)})`;
    });
  },
});

const guestsModule = (follower = chronicler()): ModuleDefinition => ({
  name: 'guests',
  kinds,
  aggregates: [],
  projections: [toProjection(guests)],
  followers: [follower],
  migrations: null,
});

const IDS = new CountedIds();

let home: TestDatabase;
let testStore: TestEventStore;
let store: EventStore;
let forgetting: NameEraser;

beforeEach(async () => {
  home = await freshDatabase();
  testStore = await TestEventStore.over(home.url);
  store = new EventStore(testStore.database, kinds, [toProjection(guests)], CLOCK, IDS, TEST_ENCRYPTION_KEYS);
  await testStore.database.rows(sql`
    create table views.guests (book text, page integer, guest jsonb not null, more jsonb not null, name text not null,
                               guest_id text not null, primary key (book, page))`);
  await testStore.database.rows(sql`create table views.lines (line bigint primary key, first jsonb not null)`);
  forgetting = new NameEraser(testStore.database, listViews([guestsModule()]));
});
afterEach(async () => {
  await testStore.close();
  await home.drop();
});

/** Resolves when a transaction waits for an advisory lock. */
const waitForAdvisoryLock = (): Promise<void> =>
  waitForCondition(async () => {
    const waiting = await testStore.database.row(sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`);
    return waiting !== undefined;
  });

const nobody: EventContext = { ...context, accessor: { id: 'org-1', type: 'organizations', name: 'acme' } };

const append = (stream: string, ...events: readonly SignedEvent[]) =>
  store.append([{ stream, organization: 'org-1', expected: 'any', events }], nobody);
const sign = (guest: string, name: string, ...pages: readonly number[]) =>
  append('book-1', ...pages.map((page) => ({ type: 'Signed' as const, data: { guest, name, page } })));
const strike = (guest: string) => append('book-2', { type: 'Struck', data: { guest } });

/** Copies Ada's page to many pages. */
const fill = (first: number, last: number) =>
  testStore.database.rows(sql`
    insert into guests select book, n, guest, more, name, guest_id
      from guests cross join generate_series(${first}::integer, ${last}::integer) n where page = 1`);
const countName = async (name: string): Promise<number> =>
  (
    await testStore.database.row<{ count: number }>(
      sql`select count(*) as count from guests g where g::text like ${`%${name}%`}`,
    )
  )?.count ?? 0;
const toBeCleaned = () =>
  testStore.database.rows(sql`select person from event_store.person_keys where key is null and cleaned_at is null`);

const [view, lines] = listViews([guestsModule()]) as [RebuildableView, RebuildableView];

describe('the names of a person who has been forgotten', () => {
  it('stay in views until the eraser removes them from all pages, without the names of others', async () => {
    await sign('user-a', 'ada', 1);
    await sign('user-b', 'bob', 0);
    await fill(2, 2_500);
    await strike('user-a');
    expect(await countName('ada')).toBe(2_500);
    expect(await toBeCleaned()).toEqual([{ person: 'user-a' }]);
    const rowsByTable = new Map<string, number>();
    await forgetting.finish({
      onExamined: (rows, table) => rowsByTable.set(table, (rowsByTable.get(table) ?? 0) + rows),
    });
    expect([await countName('ada'), await countName('bob')]).toEqual([0, 1]);
    expect(rowsByTable.get('views.guests')).toBe(2_501);
    const one = { type: 'users', id: 'user-a', name: 'user-a' };
    expect(await testStore.database.rows(sql`select * from guests where page = 2500`)).toEqual([
      { book: 'red', page: 2_500, guest: one, more: { signed: { by: one } }, name: 'user-a', guest_id: 'user-a' },
    ]);
    expect(await toBeCleaned()).toEqual([]);
  });

  it('are removed from rows that move to a table which was scanned before', async () => {
    // A recovery between the scans of the two tables.
    await testStore.database.transaction([
      sql`create table views.deleted_guests (like views.guests including all)`,
      sql`create function restore_guest() returns trigger language plpgsql as $$
          begin insert into views.guests select old.* on conflict do nothing; return null; end $$`,
      sql`create trigger recovery before update on views.deleted_guests for each row execute function restore_guest()`,
    ]);
    const columns = NAMES.map((column) => ({ ...column, table: 'deleted_guests' }));
    const eraser = new NameEraser(testStore.database, [{ names: [...NAMES, ...columns], follower: null }]);
    await sign('user-a', 'ada', 1);
    await testStore.database.transaction([
      sql`insert into deleted_guests select * from guests`,
      sql`delete from guests`,
    ]);
    await strike('user-a');
    await eraser.finish();
    expect(await testStore.database.rows(sql`select name from guests`)).toEqual([{ name: 'user-a' }]);
  });

  it('are removed by the next eraser if one stopped in the middle', async () => {
    await sign('user-a', 'ada', 1);
    await fill(2, 5_000);
    await strike('user-a');
    const stop = new AbortController();
    const onExamined = (_: number, table: string): void => void (table === 'views.guests' && stop.abort());
    await forgetting.finish({ signal: stop.signal, onExamined });
    expect(await countName('ada')).toBe(4_000);
    expect(await toBeCleaned()).toHaveLength(1);
    await Promise.all([forgetting.finish(), forgetting.finish()]);
    expect(await countName('ada')).toBe(0);
    expect(await toBeCleaned()).toEqual([]);
  });

  it('are removed although another transaction updates the same rows in another order', async () => {
    await sign('user-a', 'ada', 1);
    await fill(2, 500);
    await strike('user-a');
    const otherClient = await testStore.connect();
    await otherClient.query('begin; update views.guests set name = name where page = 400');
    const finished = forgetting.finish();
    await waitForCondition(async () => {
      const waiting = await testStore.database.row(sql`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`);
      return waiting !== undefined;
    });
    // The two transactions wait for each other until Postgres ends one of them.
    await otherClient.query('update views.guests set name = name where page < 400; commit').catch(() => undefined);
    await otherClient.query('rollback');
    await finished;
    expect(await countName('ada')).toBe(0);
  });

  it('make no difference between the live view and a rebuilt one, before and after the erasure', async () => {
    await sign('user-a', 'ada', 1, 2, 3);
    await sign('user-b', 'bob', 4);
    await strike('user-a');
    expect(await verifyView(store, view, NOW)).toEqual([]);
    await forgetting.finish();
    expect(await verifyView(store, view, NOW)).toEqual([]);
    await testStore.database.rows(sql`update guests set name = 'ada' where page = 2`);
    const [difference] = await verifyView(store, view, NOW);
    expect(difference?.surplus).toMatchObject([{ page: 2, name: 'ada' }]);
    await rebuildView(store, view, { now: NOW });
    expect(await countName('ada')).toBe(0);
  });

  it('do not return with a view that was rebuilt from events read before', async () => {
    await sign('user-a', 'ada', 1, 2, 3);
    const read = () => store.log.read(LOG_START, 3, (statement) => testStore.database.rows(statement));
    await waitForCondition(async () => (await read()).length === 3);
    let isStruck = false;
    const late: RebuildableView = {
      ...view,
      createReplay: (order) => {
        const handle = view.createReplay(order);
        return async (...batch) => {
          const statements = await handle(...batch);
          if (!isStruck) {
            isStruck = true;
            await strike('user-a');
            await forgetting.finish();
          }
          return statements;
        };
      },
    };
    await rebuildView(store, late, { now: NOW });
    expect(await countName('ada')).toBe(0);
    expect(await verifyView(store, view, NOW)).toEqual([]);
  });

  it('are not copied by a follower that is processing a batch', async () => {
    await sign('user-a', 'ada', 1);
    await sign('user-b', 'bob', 2);
    let continueFollower: () => void = () => undefined;
    const waited = new Promise<void>((resolve) => (continueFollower = resolve));
    let batches = 0;
    const follower = chronicler(() => ((batches += 1) === 2 ? waited : Promise.resolve()));
    const runner = new FollowerRunner(store, follower, quiet);
    runner.start();
    await waitForCondition(() => batches === 2);
    let isOver = false;
    const struck = strike('user-a')
      .then(() => forgetting.finish())
      .then(() => (isOver = true));
    await waitForAdvisoryLock();
    expect(isOver).toBe(false);
    continueFollower();
    await struck;
    await sign('user-b', 'bob', 3);
    await waitForFollower(testStore.database, 'chronicler');
    await runner.stop();
    const rows = await testStore.database.rows<{ first: object }>(sql`select first from lines order by line`);
    expect(rows.length).toBe(4);
    expect(new Set(rows.map(({ first }) => JSON.stringify(first)))).toEqual(
      new Set([JSON.stringify({ id: 'user-a', name: 'user-a', type: 'users' })]),
    );
    expect(lines.names).toHaveLength(1);
  });

  it('are not copied by a follower that is processing a batch together with others', async () => {
    const gate = Promise.withResolvers<void>();
    let isGated = false;
    let batches = 0;
    const follower = chronicler(async () => {
      batches += 1;
      if (isGated) await gate.promise;
    });
    const neighbour: Follower = { ...follower, name: 'neighbour', names: [], follow: () => Promise.resolve([]) };
    const runners = [follower, neighbour].map((one) => new FollowerRunner(store, one, quiet));
    for (const runner of runners) runner.start();
    await sign('user-a', 'ada', 1);
    for (const { name } of [follower, neighbour]) await waitForFollower(testStore.database, name);
    await waitForCondition(async () => {
      const [sessions] = await testStore.database.rows<{ n: number }>(sql`
        select count(distinct pid)::integer as n from pg_locks
         where locktype = 'advisory' and objsubid = 1
           and database = (select oid from pg_database where datname = current_database())`);
      return sessions?.n === 1;
    });
    isGated = true;
    const before = batches;
    await sign('user-b', 'bob', 2);
    await waitForCondition(() => batches > before);
    let isOver = false;
    const struck = strike('user-a')
      .then(() => forgetting.finish())
      .then(() => (isOver = true));
    await waitForAdvisoryLock();
    expect(isOver).toBe(false);
    gate.resolve();
    await struck;
    await waitForFollower(testStore.database, 'chronicler');
    await Promise.all(runners.map((runner) => runner.stop()));
    const rows = await testStore.database.rows<{ first: object }>(sql`select first from lines order by line`);
    expect(rows.map(({ first }) => first)).toEqual(
      [1, 2, 3].map(() => ({ id: 'user-a', name: 'user-a', type: 'users' })),
    );
  });
});
