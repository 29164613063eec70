import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#kernel';
import type { Database } from '#postgres';
import type { Actor } from '#access';
import { anybody, captureStatement, planFor, planForAny, readWhole, rowsRead } from '../../../test/support/plans.js';
import { makeOrganization } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { findActorsByName } from './actor-names.queries.js';
import { readNextEntries, readPage, readTrail, type TrailWindow } from './audit-trail.queries.js';
import type { TrailQuery } from './trail-query.filter.js';
import { UNFILTERED, type TrailEntryFilter } from './trail-entry-filter.js';
import { buildLongTrail } from '../spec.js';
import { getRangeLength } from './ordinal-range.js';

/**
 * How a trail is read that is long: 200,000 entries in one organization, among those of two others. The entries of a page
 * are all that is read of them, however deep it is, and matches are looked up in an index.
 */
const ENTRIES = 200_000;
const TABLE = 'audit_trail_entries';
const SIZE = 100;

let server: TestServer;
let actor: Actor;
let organization: string;
let ids: readonly string[];

beforeAll(async () => {
  server = await startTestServer({ followers: true });
  const made = [];
  for (const name of ['large', 'other', 'third']) made.push((await makeOrganization(server, name)).id);
  organization = made[0] ?? '';
  const session = await server.database.session();
  // The follower has told of all three.
  for (let trails = 0; trails < made.length;) {
    const [row] = await session.run<{ n: number }>(sql`select count(*) as n from audit_trails where length > 4`);
    trails = row?.n ?? 0;
  }
  for (const [n, id] of made.entries()) {
    for (const statement of buildLongTrail(id, n === 0 ? ENTRIES : 20_000)) await session.run(statement);
  }
  const rows = await session.run<{ id: string }>(sql`
    select id from audit_trail_entries where organization = ${organization} and ordinal % 50000 = 0 order by ordinal`);
  ids = rows.map(({ id }) => id);
  await session.close();
  actor = anybody({ siteAdmin: true, teams: [], standings: new Map() });
});

afterAll(() => server.close());

const questionOf = (question: Partial<TrailQuery>): TrailQuery => ({
  organization,
  since: null,
  until: null,
  filter: UNFILTERED,
  after: null,
  // As long after as it lasts: none of it is too old.
  now: new Date(Date.now() + ENTRIES * 1_000),
  ...question,
});

type Asking<T> = (database: Database) => Promise<T>;

/** Asks, and expects that few entries were looked at for it. */
const expectFew = async <T>(ask: Asking<T>, most: number): Promise<T> => {
  const { found, statement } = await captureStatement(server.database, ask);
  const plan = await planFor(server.database, statement);
  expect(readWhole(plan, [TABLE])).toEqual([]);
  expect(rowsRead(plan, [TABLE])).toBeLessThanOrEqual(most);
  return found;
};

const trailOf = async (question: TrailQuery): Promise<TrailWindow> => {
  // `asked` knows of rows alone.
  const row = async (database: Database) =>
    readTrail({ row: async (statement: never) => (await database.rows(statement))[0] } as never, actor, question, {
      pagination: null,
      untold: ['RunPlanned'],
    });
  const trail = await expectFew(row, 10);
  if (!trail) throw new Error('there is no trail');
  return trail;
};

const pageOf = async (partial: Partial<TrailQuery>, number: number, most: number) => {
  const question = questionOf(partial);
  const trail = await trailOf(question);
  const pinned = { from: trail.first, to: Math.min(trail.length, trail.until) };
  const page = { number, size: SIZE };
  const read = (database: Database) => readPage(database, { ...question, page }, trail, { pinned, newer: 0 });
  return { trail, pinned, page: await expectFew(read, most) };
};

const moment = (ago: number): number => Date.now() + (ENTRIES - ago) * 1_000;

describe('of 200,000 entries', () => {
  it.each<[string, Partial<TrailQuery>, number]>([
    ['the first page', {}, 1],
    ['a page in the middle', {}, 1_000],
    ['the last page', {}, 2_000],
    ['the first page since an hour ago', { since: moment(3_600) }, 1],
    ['a deep page since long ago', { since: moment(190_000) }, 1_500],
    ['a deep page until a day ago', { until: moment(86_400) }, 900],
  ])('%s is all that is read, and how many there are is known', async (_, question, number) => {
    const { page, pinned } = await pageOf(question, number, SIZE);
    expect(page.entries).toHaveLength(SIZE);
    expect(page.total).toBe(getRangeLength(pinned));
  });

  it('so it is by the plan that is kept for all values', async () => {
    const question = questionOf({});
    const trail = await trailOf(question);
    const read = (database: Database) =>
      readPage(database, { ...question, page: { number: 1_000, size: SIZE } }, trail, {
        pinned: { from: trail.first, to: trail.length },
        newer: 0,
      });
    const { statement } = await captureStatement(server.database, read);
    const plan = await planForAny(server.database, statement);
    expect(readWhole(plan, [TABLE])).toEqual([]);
    expect(plan.flatMap((node) => node['Index Name'] ?? [])).toEqual(['audit_trail_entries_by_ordinal']);
  });

  // Matches are looked up twice: to be counted, and for the page.
  it.each<[string, Partial<TrailEntryFilter>, total: number, most: number]>([
    ['a rare type', { resourceType: ['registry_provider'] }, 20, 3 * 20],
    ['a rare type or none', { resourceType: ['registry_provider', 'unheard_of'] }, 20, 3 * 20],
    ['one workspace', { resourceId: ['ws-77'] }, 40, 3 * 40],
    ['an actor', { actor: ['user-7'] }, 5_000, 2 * 5_000 + SIZE],
    ['an action that never was', { action: ['force_unlock'] }, 0, 0],
    ['a rare type and a common action', { resourceType: ['registry_provider'], action: ['unlock'] }, 20, 3 * 20],
    ['a workspace and its actor', { resourceId: ['ws-77'], actor: ['user-37'] }, 40, 3 * 40],
  ])('those with %s are found in an index', async (_, filter, total, most) => {
    const { page } = await pageOf({ filter: { ...UNFILTERED, ...filter } }, 1, most);
    expect(page.total).toBe(total);
    expect(page.entries).toHaveLength(Math.min(total, SIZE));
  });

  it('those that nearly all match are counted in an index, without being read', async () => {
    const filter = { ...UNFILTERED, resourceType: ['workspace'] };
    const { page } = await pageOf({ filter }, 1_000, 2 * ENTRIES);
    expect(page.entries).toHaveLength(SIZE);
  });

  it.each<[string, Partial<TrailEntryFilter>, most: number]>([
    ['nothing', {}, SIZE],
    ['a common type', { resourceType: ['workspace'] }, 3 * SIZE],
    ['two of them', { resourceType: ['workspace', 'run'] }, 3 * SIZE],
    ['a rare type', { resourceType: ['registry_provider'] }, 3 * 20],
    ['a rare type and a common action', { resourceType: ['registry_provider'], action: ['unlock'] }, 3 * 20],
  ])('what comes after a cursor is found in an index, filtered by %s', async (_, filter, most) => {
    const question = questionOf({ after: ids[1] ?? '', filter: { ...UNFILTERED, ...filter } });
    const trail = await trailOf(question);
    expect(trail.cursor).toBe(100_000);
    const stretch = { from: 100_001, to: trail.length };
    const found = await expectFew((database) => readNextEntries(database, question, trail, stretch, SIZE), most);
    expect(found.length).toBe(Math.min(SIZE, most / 3 > 20 || most === SIZE ? SIZE : 10));
  });
});

it('of 20,000 who have acted in the clear none is read to find the sealed names', async () => {
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
    findActorsByName(
      { database, personalDataCipher: server.store.personalDataCipher } as never,
      questionOf({ filter }),
    ),
  );
  const plan = await planFor(server.database, statement);
  expect(readWhole(plan, ['audit_trail_actors'])).toEqual([]);
  expect(rowsRead(plan, ['audit_trail_actors'])).toBeLessThan(10);
});
