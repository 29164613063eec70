import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { freshDatabase, type TestDatabase } from '../../../test/support/database.js';
import { sql } from '#kernel';
import { newStream, decideWrite } from '../writes.js';
import { rebuildView } from './rebuild.js';
import { verifyView } from './verify.js';
import { listViews, type RebuildableView } from './views.js';
import { verifySnapshots } from './verify-snapshots.js';
import { appendOn, context, lampHung, lamp, TestEventStore, lampDefinition, createLampLit } from '../spec.js';

let testDatabase: TestDatabase;
let house: TestEventStore;
const NOW = new Date('2026-11-21T12:00:00.000Z');

beforeEach(async () => {
  testDatabase = await freshDatabase();
  house = await TestEventStore.over(testDatabase.url);
  for (const room of ['attic', 'cellar', 'hall'])
    await house.append(`lamp-${room}`, 0, lampHung(room), createLampLit('ada'));
});
afterEach(async () => {
  await house.close();
  await testDatabase.drop();
});

const lampsView = (): RebuildableView => {
  const [view] = listViews([lampDefinition]);
  if (!view) throw new Error('the lamps have no view');
  return view;
};

const stored = () => house.database.rows(sql`select * from lamps order by id`);
const check = () => verifyView(house.store, lampsView(), NOW);

describe('verify', () => {
  it('finds nothing where nobody has touched the view, and changes nothing', async () => {
    const before = await stored();
    expect(await check()).toEqual([]);
    expect(await stored()).toEqual(before);
  });

  it('finds the row that somebody has changed, the one that is gone and the one that was added', async () => {
    await house.database.rows(sql`update lamps set lit_by = 'eve' where id = 'lamp-attic'`);
    await house.database.rows(sql`delete from lamps where id = 'lamp-cellar'`);
    await house.database.rows(sql`insert into lamps values ('lamp-secret', 'vault', 1, null)`);
    const [difference, ...others] = await check();
    expect(others).toEqual([]);
    expect(difference?.table).toBe('lamps');
    const byId = (rows: readonly Record<string, unknown>[] = []) => rows.map((row) => row['id']).toSorted();
    expect(byId(difference?.missing)).toEqual(['lamp-attic', 'lamp-cellar']);
    expect(byId(difference?.surplus)).toEqual(['lamp-attic', 'lamp-secret']);
    expect(difference?.surplus).toContainEqual({ id: 'lamp-attic', room: 'attic', watts: 40, lit_by: 'eve' });
  });

  it('finds nothing wrong while a transaction runs that began before the last write', async () => {
    const early = await house.connect();
    await early.query('begin');
    await appendOn(early, 'lamp-hall', '0190f3a0-0000-7000-9000-000000000001', 'eve');
    await house.append('lamp-porch', 0, lampHung('porch'));
    expect(await check()).toEqual([]);
    await early.query('rollback');
  });

  it('reads a log of more than one batch', async () => {
    const events = Array.from({ length: 2_100 }, (_, n) => createLampLit(`user-${n}`));
    await house.append('lamp-hall', 'any', ...events);
    let read = 0;
    expect(await verifyView(house.store, lampsView(), NOW, (count) => (read += count))).toEqual([]);
    expect(read).toBe(2_106);
  });
});

describe('rebuild', () => {
  it('mends what verify has found', async () => {
    const before = await stored();
    await house.database.rows(sql`update lamps set lit_by = 'eve'`);
    await house.database.rows(sql`insert into lamps values ('lamp-secret', 'vault', 1, null)`);
    await rebuildView(house.store, lampsView(), { now: NOW });
    expect(await stored()).toEqual(before);
    expect(await check()).toEqual([]);
  });

  it('makes a view whole that is empty', async () => {
    const before = await stored();
    await house.database.rows(sql`truncate lamps`);
    await rebuildView(house.store, lampsView(), { now: NOW });
    expect(await stored()).toEqual(before);
  });

  it('loses nothing that was committed while an older transaction still runs', async () => {
    const early = await house.connect();
    // It has its place in the log, and will write when the rebuild is over: writers wait for it, not it for them.
    await early.query('begin; select pg_current_xact_id()');
    await house.append('lamp-porch', 0, lampHung('porch'));
    await rebuildView(house.store, lampsView(), { now: NOW });
    expect(await stored()).toHaveLength(4);
    await appendOn(early, 'lamp-yard', '0190f3a0-0000-7000-9000-000000000001');
    await early.query('commit');
    expect(await check()).toEqual([]);
  });

  it('loses nothing that is written meanwhile', async () => {
    let over = false;
    const write = async (writer: number): Promise<number> => {
      let count = 0;
      while (!over)
        await house.append(
          `lamp-${writer}-${(count += 1)}`,
          0,
          lampHung(`room ${writer}-${count}`),
          createLampLit('bob'),
        );
      return count;
    };
    const writers = [1, 2, 3].map(write);
    for (let time = 0; time < 5; time += 1) await rebuildView(house.store, lampsView(), { now: NOW });
    over = true;
    const counts = await Promise.all(writers);
    expect(await stored()).toHaveLength(3 + counts.reduce((sum, count) => sum + count));
    expect(await check()).toEqual([]);
  });

  it('leaves all indexes as they were, and those that break as well', async () => {
    await house.database.rows(sql`create index lamps_by_watts on lamps (watts, room) include (id) where watts > 10`);
    await house.database.rows(sql`create index lamps_by_length on lamps (length(room) desc)`);
    const indexes = () =>
      house.database.rows(sql`
        select indexdef, conname, contype from pg_indexes
          left join pg_constraint on conindid = format('views.%I', indexname)::regclass
         where schemaname = 'views' and tablename = 'lamps' order by indexname`);
    const before = await indexes();
    expect(before).toHaveLength(4);
    await rebuildView(house.store, lampsView(), { now: NOW });
    expect(await indexes()).toEqual(before);

    await house.database.rows(sql`create unique index lamps_lit_by on lamps (lit_by) where lit_by <> 'ada'`);
    await house.append('lamp-attic', 'any', createLampLit('eve'));
    await house.database.rows(sql`update lamps set lit_by = 'ada'`);
    await house.append('lamp-hall', 'any', createLampLit('eve'));
    await expect(rebuildView(house.store, lampsView(), { now: NOW })).rejects.toThrow('lamps_lit_by');
    expect(await indexes()).toHaveLength(5);
  });

  it('looks at no event that the view has nothing to say to, but for where it got to', async () => {
    const events = Array.from({ length: 1_500 }, () => ({ type: 'LampSeen', data: { by: 'bob' } }));
    await house.store.append([{ stream: 'lamp-hall', organization: null, expected: 'any', events }], context);
    await house.append('lamp-hall', 'any', createLampLit('eve'));
    const before = await stored();
    let handed = 0;
    await rebuildView(house.store, lampsView(), { now: NOW, onEvents: (count) => (handed += count) });
    expect(handed).toBe(6 + 1 + 1);
    expect(await stored()).toEqual(before);
  });

  it('leaves the live view as it was, and its writers free, when it fails', async () => {
    await house.database.rows(sql`update lamps set room = 'nursery' where id = 'lamp-hall'`);
    await house.append('lamp-new', 0, lampHung('hall'));
    // As the log tells it, both hang in the hall.
    await expect(rebuildView(house.store, lampsView(), { now: NOW })).rejects.toThrow('lamps_room_key');
    expect(await stored()).toHaveLength(4);
    await house.append('lamp-porch', 0, lampHung('porch'));
    expect(await stored()).toHaveLength(5);
  });
});

describe('the kept states of streams', () => {
  it('are verified like the views', async () => {
    const born = { type: 'HangLamp', data: { room: 'porch', watts: 25 } } as const;
    await house.store.append([decideWrite(lamp, newStream('lamp-porch', lamp), 'org-1', born)], context);
    expect(await verifySnapshots(house.store, [lampDefinition])).toEqual([]);
    await house.database.rows(sql`
      update event_store.streams set state = jsonb_set(state, '{watts}', '60') where stream = 'lamp-porch'`);
    await house.database.rows(sql`update event_store.streams set version = 7 where stream = 'lamp-hall'`);
    expect(await verifySnapshots(house.store, [lampDefinition])).toEqual(['lamp-hall', 'lamp-porch']);
  });
});
