import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { sql } from '#platform/kernel';
import { newStream, decideWrite } from '../writes.js';
import { rebuildView } from './rebuild.js';
import type { Follower } from '../followers/follower.js';
import { verifyView, withVerifier } from './verify.js';
import { ViewCopy } from './view-copy.js';
import { listViews, type RebuildableView } from './views.js';
import { verifySnapshots } from './verify-snapshots.js';
import { appendOn, context, lampHung, lamp, TestEventStore, lampDefinition, createLampLit } from '../spec.js';

let testDatabase: TestDatabase;
let testStore: TestEventStore;
const NOW = new Date('2026-11-21T12:00:00.000Z');

beforeEach(async () => {
  testDatabase = await freshDatabase();
  testStore = await TestEventStore.over(testDatabase.url);
  for (const room of ['attic', 'cellar', 'hall'])
    await testStore.append(`lamp-${room}`, 0, lampHung(room), createLampLit('ada'));
});
afterEach(async () => {
  await testStore.close();
  await testDatabase.drop();
});

const lampsView = (): RebuildableView => {
  const [view] = listViews([lampDefinition]);
  if (!view) throw new Error('the lamps have no view');
  return view;
};

/** The view of a follower that records every event, or only those of some types. */
const sightingsView = (only?: readonly string[]): RebuildableView => {
  const follower: Follower = {
    name: 'sightings',
    version: 1,
    batch: 100,
    tables: ['sightings'],
    ...(only ? { only } : {}),
    follow: async (events) =>
      events.map(
        ({ position, id, stream }) =>
          sql`insert into sightings (position, event, stream) values (${position}, ${id}, ${stream})`,
      ),
  };
  const [view] = listViews([{ ...lampDefinition, projections: [], followers: [follower] }]);
  if (!view) throw new Error('the follower has no view');
  return view;
};

const stored = () => testStore.database.rows(sql`select * from lamps order by id`);
const check = () => verifyView(testStore.store, lampsView(), NOW);

describe('verifyView', () => {
  it('finds no difference in an unchanged view, and changes nothing', async () => {
    const before = await stored();
    expect(await check()).toEqual([]);
    expect(await stored()).toEqual(before);
  });

  it('finds a changed row, a missing row and an added row', async () => {
    await testStore.database.rows(sql`update lamps set lit_by = 'eve' where id = 'lamp-attic'`);
    await testStore.database.rows(sql`delete from lamps where id = 'lamp-cellar'`);
    await testStore.database.rows(sql`insert into lamps values ('lamp-secret', 'vault', 1, null)`);
    const [difference, ...otherDifferences] = await check();
    expect(otherDifferences).toEqual([]);
    expect(difference?.table).toBe('lamps');
    const byId = (rows: readonly Record<string, unknown>[] = []) => rows.map((row) => row['id']).toSorted();
    expect(byId(difference?.missing)).toEqual(['lamp-attic', 'lamp-cellar']);
    expect(byId(difference?.surplus)).toEqual(['lamp-attic', 'lamp-secret']);
    expect(difference?.surplus).toContainEqual({ id: 'lamp-attic', room: 'attic', watts: 40, lit_by: 'eve' });
  });

  it('finds no difference while a transaction runs that began before the last write', async () => {
    const early = await testStore.connect();
    await early.query('begin');
    await appendOn(early, 'lamp-hall', '0190f3a0-0000-7000-9000-000000000001', 'eve');
    await testStore.append('lamp-porch', 0, lampHung('porch'));
    expect(await check()).toEqual([]);
    await early.query('rollback');
  });

  it('reads a log of more than one batch', async () => {
    const events = Array.from({ length: 4_100 }, (_, n) => createLampLit(`user-${n}`));
    await testStore.append('lamp-hall', 'any', ...events);
    let read = 0;
    expect(await verifyView(testStore.store, lampsView(), NOW, (count) => (read += count))).toEqual([]);
    expect(read).toBe(4_106);
  });

  it('compares several views on the same connections, and changes none of them', async () => {
    await testStore.database.rows(sql`update lamps set lit_by = 'eve' where id = 'lamp-attic'`);
    const before = await stored();
    const tables = await withVerifier(testStore.store, async (verifier) => {
      const differences: string[][] = [];
      for (const view of [sightingsView(), lampsView(), sightingsView(), lampsView()])
        differences.push((await verifier.verify(view, NOW)).map(({ table }) => table));
      return differences;
    });
    expect(tables).toEqual([[], ['lamps'], [], ['lamps']]);
    expect(await stored()).toEqual(before);
  });
});

describe('rebuildView', () => {
  it('repairs the differences that verifyView has found', async () => {
    const before = await stored();
    await testStore.database.rows(sql`update lamps set lit_by = 'eve'`);
    await testStore.database.rows(sql`insert into lamps values ('lamp-secret', 'vault', 1, null)`);
    await rebuildView(testStore.store, lampsView(), { now: NOW });
    expect(await stored()).toEqual(before);
    expect(await check()).toEqual([]);
  });

  it('fills an empty view', async () => {
    const before = await stored();
    await testStore.database.rows(sql`truncate lamps`);
    await rebuildView(testStore.store, lampsView(), { now: NOW });
    expect(await stored()).toEqual(before);
  });

  it('loses no event that was committed while an older transaction still runs', async () => {
    const early = await testStore.connect();
    // The transaction has its id, and will write after the rebuild. Writers wait for the rebuild, not the rebuild for
    // them.
    await early.query('begin; select pg_current_xact_id()');
    await testStore.append('lamp-porch', 0, lampHung('porch'));
    await rebuildView(testStore.store, lampsView(), { now: NOW });
    expect(await stored()).toHaveLength(4);
    await appendOn(early, 'lamp-yard', '0190f3a0-0000-7000-9000-000000000001');
    await early.query('commit');
    expect(await check()).toEqual([]);
  });

  it('loses no event that is written meanwhile', async () => {
    let over = false;
    const write = async (writer: number): Promise<number> => {
      let count = 0;
      while (!over)
        await testStore.append(
          `lamp-${writer}-${(count += 1)}`,
          0,
          lampHung(`room ${writer}-${count}`),
          createLampLit('bob'),
        );
      return count;
    };
    const writers = [1, 2, 3].map(write);
    for (let time = 0; time < 5; time += 1) await rebuildView(testStore.store, lampsView(), { now: NOW });
    over = true;
    const counts = await Promise.all(writers);
    expect(await stored()).toHaveLength(3 + counts.reduce((sum, count) => sum + count));
    expect(await check()).toEqual([]);
  });

  it('keeps all indexes, also if it fails', async () => {
    await testStore.database.rows(
      sql`create index lamps_by_watts on lamps (watts, room) include (id) where watts > 10`,
    );
    await testStore.database.rows(sql`create index lamps_by_length on lamps (length(room) desc)`);
    const indexes = () =>
      testStore.database.rows(sql`
        select indexdef, conname, contype from pg_indexes
          left join pg_constraint on conindid = format('views.%I', indexname)::regclass
         where schemaname = 'views' and tablename = 'lamps' order by indexname`);
    const before = await indexes();
    expect(before).toHaveLength(4);
    await rebuildView(testStore.store, lampsView(), { now: NOW });
    expect(await indexes()).toEqual(before);

    await testStore.database.rows(sql`create unique index lamps_lit_by on lamps (lit_by) where lit_by <> 'ada'`);
    await testStore.append('lamp-attic', 'any', createLampLit('eve'));
    await testStore.database.rows(sql`update lamps set lit_by = 'ada'`);
    await testStore.append('lamp-hall', 'any', createLampLit('eve'));
    await expect(rebuildView(testStore.store, lampsView(), { now: NOW })).rejects.toThrow('lamps_lit_by');
    expect(await indexes()).toHaveLength(5);
  });

  it('reads only events that the view needs, and the last one of each batch', async () => {
    const events = Array.from({ length: 4_500 }, () => ({ type: 'LampSeen', data: { by: 'bob' } }));
    await testStore.store.append([{ stream: 'lamp-hall', organization: null, expected: 'any', events }], context);
    await testStore.append('lamp-hall', 'any', createLampLit('eve'));
    const before = await stored();
    let handed = 0;
    await rebuildView(testStore.store, lampsView(), { now: NOW, onEvents: (count) => (handed += count) });
    expect(handed).toBe(6 + 1 + 1);
    expect(await stored()).toEqual(before);
  });

  it.each([['all events', undefined] as const, ['events of some types', ['LampLit']] as const])(
    'applies a log whose positions are not in order before it locks the view of a follower of %s',
    async (_, only) => {
      // As transactions that run at the same time write them.
      for (let transaction = 1; transaction <= 30; transaction += 1) {
        await testStore.database.rows(sql`
          insert into event_store.events (position, id, stream, version, type, schema_version, organization, time, data, context)
          overriding system value
          select ${100_000 - transaction * 1_000}::bigint + n, gen_random_uuid(), ${`lamp-${transaction}`}, n, 'LampLit', 1, 'org-1', now(),
                 '{"by": "ada"}', ${sql.json(context)}
            from generate_series(1, 100) n`);
      }
      let applied = 0;
      const appliedAtLock: number[] = [];
      const lock = jest.spyOn(ViewCopy.prototype, 'lockLiveTables').mockImplementation(() => {
        appliedAtLock.push(applied);
        return Promise.resolve();
      });
      try {
        await rebuildView(testStore.store, sightingsView(only), {
          now: NOW,
          pace: { page: 80, rest: 0 },
          onEvents: (count) => (applied += count),
        });
      } finally {
        lock.mockRestore();
      }
      expect(applied).toBeGreaterThanOrEqual(3_000);
      expect(appliedAtLock).toEqual([applied]);
    },
  );

  it('leaves the live view unchanged and its writers unblocked if it fails', async () => {
    await testStore.database.rows(sql`update lamps set room = 'nursery' where id = 'lamp-hall'`);
    await testStore.append('lamp-new', 0, lampHung('hall'));
    // According to the log, both lamps are in the hall.
    await expect(rebuildView(testStore.store, lampsView(), { now: NOW })).rejects.toThrow('lamps_room_key');
    expect(await stored()).toHaveLength(4);
    await testStore.append('lamp-porch', 0, lampHung('porch'));
    expect(await stored()).toHaveLength(5);
  });
});

describe('the snapshots of streams', () => {
  it('are verified like the views', async () => {
    const command = { type: 'HangLamp', data: { room: 'porch', watts: 25 } } as const;
    await testStore.store.append([decideWrite(lamp, newStream('lamp-porch', lamp), 'org-1', command)], context);
    expect(await verifySnapshots(testStore.store, [lampDefinition])).toEqual([]);
    await testStore.database.rows(sql`
      update event_store.streams set state = jsonb_set(state, '{watts}', '60') where stream = 'lamp-porch'`);
    await testStore.database.rows(sql`update event_store.streams set version = 7 where stream = 'lamp-hall'`);
    expect(await verifySnapshots(testStore.store, [lampDefinition])).toEqual(['lamp-hall', 'lamp-porch']);
  });
});
