import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { sql, type Logger, type Projection } from '#platform/kernel';
import { computeLockKey, isOutage } from '#platform/postgres';
import { FollowerRunner } from '../followers/follower-runner.js';
import type { Follower } from '../followers/follower.js';
import { waitForFollower } from '../followers/wait-for-follower.js';
import { toProjection, type ModuleDefinition } from '../module-definition.js';
import {
  appendOn,
  CLOCK,
  context,
  createLampLit,
  lampDefinition,
  lampHung,
  lamps,
  NOW,
  TestEventStore,
  waitForCondition,
  type TestLampEvent,
} from '../spec.js';
import { rebuildView, type RebuildOptions } from './rebuild.js';
import { listDifferentVersions, recordCompleteViews } from './view-versions.js';
import { createViewUpgradeJob } from './view-upgrade.job.js';
import { verifyView } from './verify.js';
import { listViews, type RebuildableView } from './views.js';

/** The same table with a further column, which a migration added. `LampLit` by nobody removes the lamp. */
const lampsOfVersion2: Projection<TestLampEvent> = {
  name: 'lamps',
  version: 2,
  tables: ['lamps'],
  on: {
    LampHung: ({ room, watts }, { stream }) =>
      sql`insert into lamps (id, room, watts, lit_by, lumen) values (${stream}, ${room}, ${watts}, null, ${watts * 10})`,
    LampLit: ({ by }, { stream }) =>
      by === 'nobody'
        ? sql`delete from lamps where id = ${stream}`
        : sql`update lamps set lit_by = ${by} where id = ${stream}`,
  },
};

const definitionOf = (projection: Projection<TestLampEvent>): ModuleDefinition => ({
  ...lampDefinition,
  projections: [toProjection(projection)],
});
const earlierDefinition = definitionOf(lamps);
const laterDefinition = definitionOf(lampsOfVersion2);
const [view] = listViews([laterDefinition]) as [RebuildableView];

let testDatabase: TestDatabase;
let testStore: TestEventStore;
let processes: TestEventStore[] = [];
let lines: { readonly text: string; readonly fields: object }[] = [];

const record = (fields: object, text: string): void => void lines.push({ text, fields });
const logger: Logger = { debug: record, info: record, warn: record };

/** Opens a store like a process that writes this version of the views. */
const open = (definition: ModuleDefinition): TestEventStore => {
  const opened = TestEventStore.ofVersion(testDatabase.url, definition);
  processes.push(opened);
  return opened;
};
const close = async (opened: TestEventStore): Promise<void> => {
  processes = processes.filter((one) => one !== opened);
  await opened.close();
};

const LAMPS = 600;

beforeEach(async () => {
  lines = [];
  testDatabase = await freshDatabase();
  testStore = await TestEventStore.over(testDatabase.url);
  await testStore.database.rows(sql`insert into event_store.view_versions (view, version) values ('lamps', 1)`);
  await testStore.database.rows(sql`alter table lamps add column lumen integer`);
  const earlier = open(earlierDefinition);
  await Promise.all(
    Array.from({ length: LAMPS }, (_, n) =>
      earlier.append(`lamp-${n}`, 0, lampHung(`room ${n}`), createLampLit('ada')),
    ),
  );
  await close(earlier);
});
afterEach(async () => {
  await Promise.all(processes.map((one) => one.close()));
  processes = [];
  await testStore.close();
  await testDatabase.drop();
});

const runJob = (later: TestEventStore, signal: AbortSignal = new AbortController().signal): Promise<void> => {
  const job = createViewUpgradeJob({ store: later.store, clock: CLOCK, logger }, [view]);
  return job.run({ signal, done: () => undefined });
};
const rebuild = (later: TestEventStore, options: Partial<RebuildOptions> = {}) =>
  rebuildView(later.store, view, { now: NOW, ...options });
const readVersion = async (name = 'lamps'): Promise<unknown> =>
  (await testStore.database.row(sql`select version from event_store.view_versions where view = ${name}`))?.['version'];
const readLeftovers = () =>
  testStore.database.rows(sql`select tablename from pg_tables where schemaname = 'views_next'`);
const expectRebuilt = async (): Promise<void> => {
  expect(await readVersion()).toBe(2);
  expect(await verifyView(testStore.store, view, NOW)).toEqual([]);
  expect(await testStore.database.rows(sql`select id from lamps where lumen is null`)).toEqual([]);
  expect(await readLeftovers()).toEqual([]);
};

describe('a view of an earlier version', () => {
  it('is rebuilt while two processes write and read, and no request of theirs fails', async () => {
    const [first, second] = [open(laterDefinition), open(laterDefinition)];
    let isOver = false;
    const use = async (one: TestEventStore, name: string): Promise<number> => {
      let count = 0;
      do {
        const id = `lamp-${name}-${(count += 1)}`;
        await one.append(id, 0, lampHung(`${name} ${count}`), createLampLit('bob'));
        expect(await one.database.rows(sql`select lit_by from lamps where id = ${id}`)).toEqual([{ lit_by: 'bob' }]);
        expect(await one.database.row(sql`select count(*) >= ${LAMPS + count} as ok from lamps`)).toEqual({ ok: true });
      } while (!isOver);
      return count;
    };
    const users = [use(first, 'one'), use(first, 'two'), use(second, 'three')];
    await runJob(first);
    isOver = true;
    const counts = await Promise.all(users);
    expect(await testStore.database.rows(sql`select id from lamps`)).toHaveLength(
      LAMPS + counts.reduce((sum, count) => sum + count),
    );
    await expectRebuilt();
    expect(lines.map(({ text }) => text)).toEqual([
      'rebuild of the view begins; the live view is served meanwhile',
      'rebuild of the view is done',
    ]);
    expect(lines[1]?.fields).toMatchObject({ view: 'lamps', from: 1, to: 2, seconds: expect.any(Number) });
  });

  it('stays unchanged if the rebuild is aborted, and the next one starts again', async () => {
    const later = open(laterDefinition);
    const stopping = new AbortController();
    const aborted = rebuild(later, {
      signal: stopping.signal,
      pace: { page: 100, rest: 0 },
      onEvents: () => stopping.abort(),
    });
    await expect(aborted).rejects.toThrow('aborted');
    expect(await readVersion()).toBe(1);
    expect(await readLeftovers()).toEqual([]);
    await runJob(later);
    await expectRebuilt();
  });

  it('stays unchanged if the rebuilding process is killed, and the next one starts again', async () => {
    const later = open(laterDefinition);
    const client = await testStore.connect();
    const killed = rebuild(later, {
      pace: { page: 100, rest: 0 },
      onEvents: () =>
        void client.query(
          `select pg_terminate_backend(pid) from pg_locks
            where locktype = 'advisory' and objsubid = 1 and (classid::bigint << 32) | objid::bigint = $1`,
          [computeLockKey('cadastre rebuild')],
        ),
    });
    // Depending on when the connection breaks, the error is of Postgres, of the socket, or of the client.
    expect(isOutage(await killed.catch((error: unknown) => error))).toBe(true);
    expect(await readVersion()).toBe(1);
    expect(await readLeftovers()).toEqual([{ tablename: 'lamps' }]);
    await testStore.append('lamp-new', 0, lampHung('hall'));
    await runJob(later);
    await expectRebuilt();
  });

  it('is rebuilt once by two processes that start together', async () => {
    const results = await Promise.all(
      [open(laterDefinition), open(laterDefinition)].map((later) => rebuild(later, { onlyIfEarlier: true })),
    );
    expect(results.filter((result) => result !== null)).toHaveLength(1);
    await expectRebuilt();
  });

  it('is rebuilt even if a name was freed and taken in another order than that of the log', async () => {
    const later = open(laterDefinition);
    const [early, another] = [await testStore.connect(), await testStore.connect()];
    await early.query('begin; select pg_current_xact_id()');
    await another.query('begin; select pg_current_xact_id()');
    await later.append('lamp-1', 'any', createLampLit('nobody'));
    const events = [{ id: '0190f3a0-0000-7000-9000-000000000001', type: 'LampHung', schemaVersion: 2 }].map(
      (event) => ({
        ...event,
        data: { room: 'room 1', watts: 25 },
      }),
    );
    await early.query('select event_store.append($1, 0, null, now(), $2, $3, null, null)', [
      'lamp-early',
      context,
      JSON.stringify(events),
    ]);
    await early.query(`insert into views.lamps values ('lamp-early', 'room 1', 25, null, 250)`);
    await early.query('commit');
    // In the log, `lamp-early` precedes the end of `lamp-1`, and the other transaction prevents that this end is read.
    await rebuild(later);
    await another.query('rollback');
    await expectRebuilt();
  });

  it('keeps its indexes, triggers, settings and grants', async () => {
    await testStore.database.rows(sql`alter table lamps set (fillfactor = 70)`);
    await testStore.database.rows(sql`alter table lamps alter column room set (n_distinct = 7)`);
    await testStore.database.rows(sql`grant select on lamps to pg_monitor`);
    await testStore.database.rows(sql`create index lamps_lit on lamps (lit_by, watts desc) where lit_by is not null`);
    await testStore.database.rows(sql`
      create trigger forget after delete on lamps for each row execute function access.forget_secrets()`);
    const readTable = () =>
      testStore.database.row(sql`
        select c.reloptions, c.relacl::text, c.relpersistence,
               (select array_agg(attoptions::text) from pg_attribute where attrelid = c.oid and attnum > 0) as columns,
               (select array_agg(pg_get_triggerdef(t.oid)) from pg_trigger t where tgrelid = c.oid) as triggers,
               (select array_agg(indexdef order by indexname) from pg_indexes where schemaname = 'views' and tablename = 'lamps') as indexes
          from pg_class c where c.oid = 'views.lamps'::regclass`);
    const before = await readTable();
    await rebuild(open(laterDefinition));
    expect(await readTable()).toEqual(before);
    await expectRebuilt();
  });

  it('is left alone if a migration changes its table meanwhile', async () => {
    const later = open(laterDefinition);
    const client = await testStore.connect();
    let isChanged = false;
    const change = (): void => {
      if (isChanged) return;
      isChanged = true;
      void client.query('alter table views.lamps add column shade text');
    };
    await expect(rebuild(later, { pace: { page: 50, rest: 0 }, onEvents: change })).rejects.toThrow(
      'views.lamps was changed by a migration while it was rebuilt',
    );
    expect(await readVersion()).toBe(1);
    await runJob(later);
    await expectRebuilt();
  });
});

describe('processes of two versions', () => {
  it('run side by side, and the rebuild waits until the earlier one stops', async () => {
    const [earlier, later] = [open(earlierDefinition), open(laterDefinition)];
    await earlier.append('lamp-old', 0, lampHung('hall'));
    await later.append('lamp-new', 0, lampHung('porch'));
    const job = createViewUpgradeJob({ store: later.store, clock: CLOCK, logger }, [view]);
    const round = { signal: new AbortController().signal, done: () => undefined };
    await job.run(round);
    await job.run(round);
    expect(await readVersion()).toBe(1);
    expect(lines.map(({ text }) => text)).toEqual([
      'the rebuild of the view waits until processes of the earlier version have stopped',
    ]);
    await close(earlier);
    await job.run(round);
    await expectRebuilt();
  });

  it('set the view back to the earlier version if that process starts again', async () => {
    const later = open(laterDefinition);
    await rebuild(later);
    const earlier = open(earlierDefinition);
    await earlier.append('lamp-old', 0, lampHung('hall'));
    expect(await readVersion()).toBe(1);
    await close(earlier);
    await runJob(later);
    await expectRebuilt();
  });

  it('leave a view of a later version unchanged', async () => {
    await testStore.database.rows(sql`update event_store.view_versions set version = 3 where view = 'lamps'`);
    const later = open(laterDefinition);
    expect(await listDifferentVersions(later.database, [view])).toEqual([{ view, stored: 3, lowestWritten: null }]);
    await runJob(later);
    expect(lines).toEqual([]);
    await later.append('lamp-new', 0, lampHung('porch'));
    expect(await readVersion()).toBe(2);
  });
});

describe('a view without a version', () => {
  it('is rebuilt if the log has events, because it is new', async () => {
    await testStore.database.rows(sql`delete from event_store.view_versions where view = 'lamps'`);
    await testStore.database.rows(sql`truncate lamps`);
    const later = open(laterDefinition);
    await recordCompleteViews(later.database, [view]);
    await runJob(later);
    await expectRebuilt();
  });

  it('is complete while the log is empty', async () => {
    const empty = await freshDatabase();
    const emptyStore = await TestEventStore.over(empty.url);
    await recordCompleteViews(emptyStore.database, [view]);
    expect(await listDifferentVersions(emptyStore.database, [view])).toEqual([]);
    await emptyStore.close();
    await empty.drop();
  });

  it('has the earlier version on an empty log while a process of that version is connected', async () => {
    const empty = await freshDatabase();
    const emptyStore = await TestEventStore.over(empty.url);
    const earlier = TestEventStore.ofVersion(empty.url, earlierDefinition);
    // A connection registers before its first write.
    await earlier.database.transaction([sql`select 1`]);
    await recordCompleteViews(emptyStore.database, [view]);
    expect(await listDifferentVersions(emptyStore.database, [view])).toEqual([{ view, stored: 1, lowestWritten: 1 }]);
    await Promise.all([earlier.close(), emptyStore.close()]);
    await empty.drop();
  });
});

describe('the view of a follower', () => {
  const watchman = (version: number): Follower => ({
    name: 'watchman',
    batch: 7,
    version,
    tables: ['sightings'],
    follow: (events) =>
      Promise.resolve(
        events.map(
          ({ position, id, stream }) =>
            sql`insert into sightings (position, event, stream) values (${position}, ${id}, ${`${stream} v${version}`})`,
        ),
      ),
    prune: () => sql`delete from sightings where stream like 'lamp-0 %'`,
  });
  const follow = (one: TestEventStore, version: number): FollowerRunner => {
    const runner = new FollowerRunner(one.store, watchman(version), logger);
    runner.start();
    return runner;
  };
  const definitionOfVersion = (version: number): ModuleDefinition => ({
    ...lampDefinition,
    projections: [],
    followers: [watchman(version)],
  });

  it('is rebuilt while its follower runs, from the start of the log and without rows past their retention', async () => {
    const first = follow(testStore, 1);
    await waitForFollower(testStore.database, 'watchman');
    await first.stop();
    await testStore.database.rows(sql`insert into event_store.view_versions (view, version) values ('watchman', 1)`);

    const later = open(definitionOfVersion(2));
    const [sightings] = listViews([definitionOfVersion(2)]) as [RebuildableView];
    const runner = follow(later, 2);
    let isOver = false;
    const write = async (): Promise<void> => {
      for (let n = 0; !isOver; n += 1) await testStore.append(`lamp-late-${n}`, 'any', createLampLit('bob'));
    };
    const writing = write();
    const job = createViewUpgradeJob({ store: later.store, clock: CLOCK, logger }, [sightings]);
    await job.run({ signal: new AbortController().signal, done: () => undefined });
    isOver = true;
    await writing;
    await waitForFollower(testStore.database, 'watchman');
    expect(await readVersion('watchman')).toBe(2);
    expect(await verifyView(testStore.store, sightings, NOW)).toEqual([]);
    expect(await testStore.database.rows(sql`select stream from sightings where stream not like '% v2'`)).toEqual([]);
    expect(await testStore.database.rows(sql`select stream from sightings where stream like 'lamp-0 %'`)).toEqual([]);
    await runner.stop();
  });

  it('waits for the process that leads the follower with an earlier version', async () => {
    await testStore.database.rows(sql`insert into event_store.view_versions (view, version) values ('watchman', 1)`);
    const earlier = open(definitionOfVersion(1));
    const first = follow(earlier, 1);
    await waitForFollower(testStore.database, 'watchman');
    const later = open(definitionOfVersion(2));
    const [sightings] = listViews([definitionOfVersion(2)]) as [RebuildableView];
    const job = createViewUpgradeJob({ store: later.store, clock: CLOCK, logger }, [sightings]);
    const round = { signal: new AbortController().signal, done: () => undefined };
    await job.run(round);
    expect(await readVersion('watchman')).toBe(1);
    await first.stop();
    await waitForCondition(async () => {
      await job.run(round);
      return (await readVersion('watchman')) === 2;
    });
    expect(await verifyView(testStore.store, sightings, NOW)).toEqual([]);
  });

  it('is complete from the start if the follower is new', async () => {
    const [sightings] = listViews([definitionOfVersion(2)]) as [RebuildableView];
    await recordCompleteViews(testStore.database, [sightings]);
    expect(await readVersion('watchman')).toBe(2);
  });
});

it('an older transaction can still write after the rebuild', async () => {
  const later = open(laterDefinition);
  const early = await testStore.connect();
  await early.query('begin; select pg_current_xact_id()');
  await rebuild(later);
  await appendOn(early, 'lamp-2', '0190f3a0-0000-7000-9000-000000000002');
  await early.query('commit');
  await expectRebuilt();
});
