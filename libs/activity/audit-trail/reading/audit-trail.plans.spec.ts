import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { Actor } from '#api/access';
import { anybody, captureStatement, planFor, planForAny, readWhole, rowsRead } from '../../../../test/support/plans.js';
import { makeOrganization } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { findActorsByName } from './actor-names.queries.js';
import { readNextEntries, readPage, readTrail } from './audit-trail.queries.js';
import type { TrailWindow } from './trail-window.js';
import type { TrailQuery } from './trail-query.filter.js';
import { UNFILTERED, type TrailEntryFilter } from './trail-entry-filter.js';
import { ENTRIES_PER_BLOCK } from '../blocks/trail-blocks.js';
import { countMatches, findNextMatches } from './matching-entries.queries.js';
import { buildLongTrail } from '../spec.js';
import { getRangeLength } from './ordinal-range.js';

/**
 * Query plans for a long audit trail: 200,000 entries in one organization, beside those of two others. Postgres reads
 * only the entries of the page, however deep it is, and finds matches in an index.
 */
const ENTRIES = 200_000;
const TABLE = 'audit_trail_entries';
const SIZE = 100;
const BLOCKS = Math.ceil(ENTRIES / ENTRIES_PER_BLOCK);

let server: TestServer;
let actor: Actor;
let organization: string;
let ids: readonly string[];

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  const created = [];
  for (const name of ['large', 'other', 'third']) created.push((await makeOrganization(server, name)).id);
  organization = created[0] ?? '';
  const session = await server.database.session();
  // Waits until the follower has written the entries of all three.
  for (let trails = 0; trails < created.length;) {
    const [row] = await session.run<{ n: number }>(sql`select count(*) as n from audit_trails where length > 4`);
    trails = row?.n ?? 0;
  }
  for (const [n, id] of created.entries()) {
    for (const statement of buildLongTrail(id, n === 0 ? ENTRIES : 20_000)) await session.run(statement);
  }
  const rows = await session.run<{ id: string }>(sql`
    select id from audit_trail_entries where organization = ${organization} and ordinal % 50000 = 0 order by ordinal`);
  ids = rows.map(({ id }) => id);
  await session.close();
  actor = anybody({ siteAdmin: true, teams: [], rolesByOrganization: new Map() });
});

afterAll(() => server.close());

const toQuery = (changes: Partial<TrailQuery>): TrailQuery => ({
  organization,
  since: null,
  until: null,
  filter: UNFILTERED,
  after: null,
  // The end of the generated entries, so that none is too old.
  now: new Date(Date.now() + ENTRIES * 1_000),
  ...changes,
});

type Read<T> = (database: Database) => Promise<T>;

/** Runs a read and expects that Postgres looked at few entries. */
const expectFew = async <T>(read: Read<T>, most: number): Promise<T> => {
  const { result, statement } = await captureStatement(server.database, read);
  const plan = await planFor(server.database, statement);
  expect(readWhole(plan, [TABLE])).toEqual([]);
  expect(rowsRead(plan, [TABLE])).toBeLessThanOrEqual(most);
  return result;
};

const trailOf = async (query: TrailQuery): Promise<TrailWindow> => {
  // `captureStatement` supports only methods that return rows.
  const row = async (database: Database) =>
    readTrail({ row: async (statement: never) => (await database.rows(statement))[0] } as never, actor, query, {
      pagination: null,
      audited: sql`v.organization = ${query.organization} and v.type <> 'RunPlanned'`,
    });
  const trail = await expectFew(row, 10);
  if (!trail) throw new Error('there is no trail');
  return trail;
};

const pageOf = async (partial: Partial<TrailQuery>, number: number, most: number) => {
  const query = toQuery(partial);
  const trail = await trailOf(query);
  const pinned = { from: trail.first, to: Math.min(trail.length, trail.until) };
  const page = { number, size: SIZE };
  const read = (database: Database) => readPage(database, { ...query, page }, trail, { pinned, newer: 0 });
  return { trail, pinned, page: await expectFew(read, most) };
};

const timestampOf = (ago: number): number => Date.now() + (ENTRIES - ago) * 1_000;

describe('reading an audit trail of 200,000 entries', () => {
  it.each<[string, Partial<TrailQuery>, number]>([
    ['the first page', {}, 1],
    ['a page in the middle', {}, 1_000],
    ['the last page', {}, 2_000],
    ['the first page since an hour ago', { since: timestampOf(3_600) }, 1],
    ['a deep page since long ago', { since: timestampOf(190_000) }, 1_500],
    ['a deep page until a day ago', { until: timestampOf(86_400) }, 900],
  ])('reads only %s, and knows the total count', async (_, changes, number) => {
    const { page, pinned } = await pageOf(changes, number, SIZE);
    expect(page.entries).toHaveLength(SIZE);
    expect(page.total).toBe(getRangeLength(pinned));
  });

  it('uses an index even with the generic plan', async () => {
    const query = toQuery({});
    const trail = await trailOf(query);
    const read = (database: Database) =>
      readPage(database, { ...query, page: { number: 1_000, size: SIZE } }, trail, {
        pinned: { from: trail.first, to: trail.length },
        newer: 0,
      });
    const { statement } = await captureStatement(server.database, read);
    const plan = await planForAny(server.database, statement);
    expect(readWhole(plan, [TABLE])).toEqual([]);
    expect(plan.flatMap((node) => node['Index Name'] ?? [])).toEqual(['audit_trail_entries_pkey']);
  });

  type ReadCounts = { readonly total: number; readonly entries: number; readonly blocks: number };

  /** Counts the matches of a filter, and expects how many entries and blocks Postgres looks at, at most. */
  const expectCounted = async (filter: Partial<TrailEntryFilter>, number: number, most: ReadCounts): Promise<void> => {
    const query = toQuery({ filter: { ...UNFILTERED, ...filter } });
    const trail = await trailOf(query);
    const pinned = { from: trail.first, to: trail.length };
    const { result, statement } = await captureStatement(server.database, (database) =>
      countMatches(database, { ...query, page: { number, size: SIZE } }, trail, { pinned, newer: 0 }),
    );
    expect(result.total).toBe(most.total);
    expect(result.ordinals).toHaveLength(Math.min(most.total - (number - 1) * SIZE, SIZE));
    const plan = await planFor(server.database, statement);
    expect(readWhole(plan, [TABLE])).toEqual([]);
    // The newest block is not complete, so its entries are read.
    expect(rowsRead(plan, [TABLE])).toBeLessThanOrEqual(most.entries + (trail.length % ENTRIES_PER_BLOCK));
    expect(rowsRead(plan, ['audit_trail_blocks'])).toBeLessThanOrEqual(most.blocks);
  };

  it.each<[string, Partial<TrailEntryFilter>, most: ReadCounts]>([
    ['a rare type', { resourceType: ['registry_provider'] }, { total: 20, entries: 0, blocks: 20 }],
    ['a rare type or none', { resourceType: ['registry_provider', 'unheard'] }, { total: 20, entries: 0, blocks: 20 }],
    ['one workspace', { resourceId: ['ws-77'] }, { total: 40, entries: 40, blocks: 0 }],
    ['an actor', { actor: ['user-7'] }, { total: 5_000, entries: 0, blocks: BLOCKS }],
    ['an action that never was', { action: ['force_unlock'] }, { total: 0, entries: 0, blocks: 0 }],
    [
      'a rare type and a common action',
      { resourceType: ['registry_provider'], action: ['unlock'] },
      { total: 20, entries: 0, blocks: BLOCKS + 20 },
    ],
    [
      'a workspace and its actor',
      { resourceId: ['ws-77'], actor: ['user-37'] },
      { total: 40, entries: 40, blocks: BLOCKS },
    ],
  ])('counts entries with %s in blocks or an index', async (_, filter, most) => {
    await expectCounted(filter, 1, most);
    const { page } = await pageOf({ filter: { ...UNFILTERED, ...filter } }, 1, Math.max(SIZE, ENTRIES_PER_BLOCK));
    expect(page.total).toBe(most.total);
    expect(page.entries).toHaveLength(Math.min(most.total, SIZE));
  });

  it('counts entries in blocks without reading them if nearly all match', async () => {
    const trail = await trailOf(toQuery({}));
    const query = toQuery({ filter: { ...UNFILTERED, resourceType: ['workspace'] } });
    const all = { pinned: { from: trail.first, to: trail.length }, newer: 0, number: 1 };
    const { total } = await countMatches(server.database, { ...query, page: { number: 1, size: SIZE } }, trail, all);
    await expectCounted({ resourceType: ['workspace'] }, 1_000, { total, entries: 0, blocks: BLOCKS });
    expect(total).toBeGreaterThan(0.89 * ENTRIES);
  });

  it.each<[string, Partial<TrailEntryFilter>, count: number]>([
    ['no filter', {}, SIZE],
    ['a common type', { resourceType: ['workspace'] }, SIZE],
    ['two of them', { resourceType: ['workspace', 'run'] }, SIZE],
    ['a rare type', { resourceType: ['registry_provider'] }, 10],
    ['a rare type and a common action', { resourceType: ['registry_provider'], action: ['unlock'] }, 10],
  ])('finds the entries after a cursor in blocks or an index, filtered by %s', async (_, filter, count) => {
    const query = toQuery({ after: ids[1] ?? '', filter: { ...UNFILTERED, ...filter } });
    const trail = await trailOf(query);
    expect(trail.cursor).toBe(100_000);
    const range = { from: 100_001, to: trail.length };
    const entries = await expectFew((database) => readNextEntries(database, query, trail, range, SIZE), SIZE);
    expect(entries).toHaveLength(count);
  });

  it.each<[string, Partial<TrailEntryFilter>, values: number]>([
    ['a common type', { resourceType: ['workspace'] }, 1],
    ['two of them', { resourceType: ['workspace', 'run'] }, 2],
    ['a common type and a common action', { resourceType: ['workspace'], action: ['lock'] }, 2],
  ])('reads few blocks and no other entries for the first matches, filtered by %s', async (_, filter, values) => {
    const query = toQuery({ filter: { ...UNFILTERED, ...filter } });
    const trail = await trailOf(query);
    const range = { from: 100_001, to: trail.length };
    const { result, statement } = await captureStatement(server.database, (database) =>
      findNextMatches(database, query, trail, range, SIZE),
    );
    expect(result).toHaveLength(SIZE);
    const plan = await planFor(server.database, statement);
    expect(rowsRead(plan, [TABLE])).toBe(0);
    expect(rowsRead(plan, ['audit_trail_blocks'])).toBeLessThanOrEqual(20 * values);
  });
});

it('finding actors by an encrypted name reads none of 20,000 actors with unencrypted names', async () => {
  for (let first = 1; first < 20_000; first += 5_000) {
    await server.database.rows(sql`
      insert into audit_trail_actors (organization, name, accessor)
      select ${organization}, 'robot ' || n, 'robot-' || n from generate_series(${first}::int, ${first + 4_999}::int) n`);
  }
  await server.database.rows(sql`
    insert into audit_trail_actors (organization, name, accessor) values (${organization}, '~sealed:n:user-1:AAAA', 'user-1')`);
  await server.database.rows(sql`analyze audit_trail_actors`);
  const filter = { ...UNFILTERED, actor: ['ada'] };
  const { statement } = await captureStatement(server.database, (database) =>
    findActorsByName({ database, personalDataCipher: server.store.personalDataCipher } as never, toQuery({ filter })),
  );
  const plan = await planFor(server.database, statement);
  expect(readWhole(plan, ['audit_trail_actors'])).toEqual([]);
  expect(rowsRead(plan, ['audit_trail_actors'])).toBeLessThan(10);
});
