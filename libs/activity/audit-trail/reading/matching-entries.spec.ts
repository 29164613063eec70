import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { freshDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { sql } from '#platform/kernel';
import { Database, type DatabaseSession } from '#platform/postgres';
import { insertBlock } from '../blocks/trail-blocks.js';
import { countMatches, findNextMatches } from './matching-entries.queries.js';
import type { TrailEntryFilter } from './trail-entry-filter.js';
import type { TrailWindow } from './trail-window.js';

/**
 * Compares the matches of random filters with those of a search of all entries. The audit trail has nine complete
 * blocks, one of them with deleted entries, and entries after them.
 */
const LENGTH = 10_000;
const FIRST = 1_300;
const BLOCKS = 9;
const ORGANIZATION = 'org-model';

const TYPES = ['workspace', 'run', 'team', 'registry_provider'];
const ACTIONS = ['lock', 'unlock', 'create'];
const ACTORS = ['user-1', 'user-2', 'run-7'];
const RESOURCES = ['ws-1', 'ws-2', 'ws-3', 'rare'];

type ModelEntry = {
  readonly ordinal: number;
  readonly type: string;
  readonly action: string;
  readonly actor: string;
  readonly resource: string;
};

/** Entries of one kind come in groups, and some values occur only in a part of the trail. */
const ENTRIES: readonly ModelEntry[] = Array.from({ length: LENGTH }, (_, index) => ({
  ordinal: index + 1,
  type: index % 997 === 0 ? 'registry_provider' : (TYPES[Math.floor(index / 37) % 3] ?? ''),
  action: ACTIONS[(index * index) % 3] ?? '',
  actor: index > 2_000 && index < 2_100 ? 'run-7' : (ACTORS[Math.floor(index / 500) % 2] ?? ''),
  resource: index % 1_501 === 7 ? 'rare' : (RESOURCES[Math.floor(index / 11) % 3] ?? ''),
}));

let fresh: TestDatabase;
let database: Database;
let session: DatabaseSession;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = new Database({ url: fresh.url, connections: 2, applicationName: 'cadastre test' });
  session = await database.session();
  await session.run(sql`
    insert into audit_trail_entries
           (organization, timestamp, id, ordinal, resource_type, action, accessor, resource_id, actor_name, auth_type)
    select org.organization, '2026-01-01'::timestamptz + e.ordinal * interval '1 second', gen_random_uuid(), e.ordinal,
           e.type, e.action, e.actor, e.resource, e.actor, 'Client'
      from jsonb_to_recordset(${sql.json(ENTRIES)}::jsonb)
             as e (ordinal bigint, type text, action text, actor text, resource text),
           (values (${ORGANIZATION}), ('org-other')) as org (organization)`);
  for (let block = 0; block < BLOCKS; block += 1) await session.run(insertBlock(ORGANIZATION, block));
  await session.run(sql`delete from audit_trail_entries where ordinal < ${FIRST}`);
  await session.run(sql`vacuum analyze audit_trail_entries, audit_trail_blocks`);
});

afterAll(async () => {
  await session.close();
  await database.close();
  await fresh.drop();
});

const someOf = (values: readonly string[]) =>
  fc.oneof(fc.constant([]), fc.subarray([...values, 'unheard of'], { minLength: 1, maxLength: 3 }));

const FILTER = fc
  .record<TrailEntryFilter>({
    resourceType: someOf(TYPES),
    action: someOf(ACTIONS),
    actor: someOf(ACTORS),
    resourceId: someOf(RESOURCES),
  })
  .filter((filter) => Object.values(filter).some((values) => values.length > 0));

const ORDINAL = fc.integer({ min: FIRST, max: LENGTH });
const QUERY = fc.record({
  filter: FILTER,
  from: ORDINAL,
  to: ORDINAL,
  newer: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 2_000 })),
  size: fc.integer({ min: 1, max: 300 }),
  number: fc.integer({ min: 1, max: 8 }),
  hasBlocks: fc.boolean(),
});

const toWindow = ({ actor }: TrailEntryFilter, hasBlocks: boolean): TrailWindow => ({
  last: '2026-01-02T00:00:00.001Z',
  length: LENGTH,
  retained: FIRST,
  first: FIRST,
  until: LENGTH,
  pinned: LENGTH,
  cursor: null,
  happened: false,
  hasBlocks,
  accessors: actor,
});

const matches = (filter: TrailEntryFilter, entry: ModelEntry): boolean => {
  const isAny = (values: readonly string[], value: string): boolean => values.length === 0 || values.includes(value);
  return (
    isAny(filter.resourceType, entry.type) &&
    isAny(filter.action, entry.action) &&
    isAny(filter.actor, entry.actor) &&
    isAny(filter.resourceId, entry.resource)
  );
};

it('counts and finds the same entries as a search of all entries', async () => {
  await fc.assert(
    fc.asyncProperty(QUERY, async ({ filter, from, to, newer: possible, size, number: anyNumber, hasBlocks }) => {
      const newer = Math.max(0, Math.min(possible, LENGTH - to));
      // Newer entries precede the first page only.
      const number = newer > 0 ? 1 : anyNumber;
      const trail = toWindow(filter, hasBlocks);
      const query = { organization: ORGANIZATION, filter, page: { number, size } };
      const inRange = ENTRIES.filter((entry) => entry.ordinal >= from && matches(filter, entry));
      const newerOrdinals = inRange.filter(({ ordinal }) => ordinal > to && ordinal <= to + newer);
      const pinnedOrdinals = inRange.filter(({ ordinal }) => ordinal <= to);
      const toOrdinals = (entries: readonly ModelEntry[]) => entries.map(({ ordinal }) => ordinal);

      const counted = await countMatches(database, query, trail, { pinned: { from, to }, newer });
      const descending = toOrdinals(pinnedOrdinals).toReversed();
      expect(counted).toEqual({
        total: pinnedOrdinals.length,
        newer: newerOrdinals.length,
        ordinals: [...toOrdinals(newerOrdinals).toReversed(), ...descending.slice((number - 1) * size, number * size)],
      });
      const next = await findNextMatches(database, query, trail, { from, to }, size);
      expect(next).toEqual(toOrdinals(pinnedOrdinals).slice(0, size));
    }),
    { numRuns: 150 },
  );
});
