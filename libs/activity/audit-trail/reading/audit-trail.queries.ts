import { sql, formatTimestamp, type Sql, type Timestamp } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import { requireCurrentAccess, type Actor } from '#api/access';
import type { PageRequest } from '#api/json-api';
import type { TrailQuery } from './trail-query.filter.js';
import type { TrailEntry } from '../writing/trail-entry.js';
import { ENTRY_COLUMNS, toTrailEntry, type EntryRow } from '../writing/stored-entry.js';
import { isFiltered } from './trail-entry-filter.js';
import { getRangeLength, computePageRange, type OrdinalRange } from './ordinal-range.js';
import type { NumberedEntry } from '../writing/trail.js';
import { IS_EARLIER_TRAIL } from '../audit-trail.follower.js';
import { selectFirstOrdinal } from '../blocks/ordinals.queries.js';
import { selectKeptFrom } from '../settings/entry-retention.queries.js';
import { countMatches, findNextMatches, getSlowReadCaller, type TrailFilter } from './matching-entries.queries.js';
import type { PinnedPagination } from './pagination.js';
import type { TrailWindow } from './trail-window.js';

/**
 * Returns undefined if the organization has no audit trail. `audited`: the condition that the trail records the event
 * `v`.
 */
export const readTrail = async (
  database: Database,
  actor: Actor,
  { organization, since, until, after, filter, now }: TrailQuery,
  { pagination, audited }: { readonly pagination: PinnedPagination | null; readonly audited: Sql },
): Promise<TrailWindow | undefined> => {
  const retained = selectFirstOrdinal('>=', selectKeptFrom(now));
  const firstAfter = (time: Timestamp): Sql => selectFirstOrdinal('>', sql`${time}::timestamptz`);
  const cursor = after || null;
  const row = await database.row<(TrailWindow & { open: boolean }) | { open: null }>(sql`
    select t.open, coalesce(t.last, 'epoch') as last, t.length, bounds.retained,
           ${since === null ? sql`bounds.retained` : sql`greatest(bounds.retained, ${firstAfter(formatTimestamp(since))})`} as first,
           ${until === null ? sql`t.length` : sql`${firstAfter(formatTimestamp(until))} - 1`} as until,
           ${pagination === null ? sql`t.length` : sql`${firstAfter(pagination.upper)} - 1`} as pinned,
           (select e.ordinal from audit_trail_entries e
             where e.id = ${cursor}::uuid and e.organization = target.organization) as cursor,
           exists (select from event_store.events v
                    where v.id = ${cursor}::uuid and ${audited}) as happened,
           not ${IS_EARLIER_TRAIL} as "hasBlocks",
           ${filter.actor}::text[] || array(
             select a.accessor from audit_trail_actors a
              where a.organization = target.organization and a.name = any (${filter.actor}::text[])) as accessors
      from (values (${organization})) as target (organization)
      left join audit_trails t on t.organization = target.organization
      left join audit_trail_settings s on s.organization = target.organization
      left join lateral (select ${retained} as retained) bounds on true
     where ${requireCurrentAccess(actor)}`);
  return row?.open ? row : undefined;
};

const isInRange = ({ from: first, to }: OrdinalRange): Sql => sql`e.ordinal between ${first} and ${to}`;

type TrailPageRows = { readonly entries: readonly TrailEntry[]; readonly total: number; readonly newer: number };

/** Returns one page, newest first, the total count, and the number of newer entries before the first page. */
export const readPage = async (
  database: Database,
  query: TrailFilter & { readonly page: PageRequest },
  trail: TrailWindow,
  { pinned, newer }: { readonly pinned: OrdinalRange; readonly newer: number },
): Promise<TrailPageRows> => {
  const { organization, page } = query;
  if (isFiltered(query.filter)) {
    const { ordinals, ...counts } = await countMatches(database, query, trail, { pinned, newer });
    const entries = await readEntries(database, query, ordinals);
    return { ...counts, entries: entries.map(({ entry }) => entry) };
  }
  const rows = await database.slowRows<EntryRow>(
    getSlowReadCaller(query),
    sql`
    select ${ENTRY_COLUMNS} from audit_trail_entries e
     where e.organization = ${organization} and ${isInRange(computePageRange(pinned, page, newer))}
     order by e.ordinal desc`,
  );
  return { entries: rows.map(toTrailEntry), total: getRangeLength(pinned), newer };
};

/** Returns the entries with these ordinals, in the order of the list, without those that were pruned meanwhile. */
const readEntries = async (
  database: Database,
  query: TrailFilter,
  ordinals: readonly number[],
): Promise<NumberedEntry[]> => {
  if (ordinals.length === 0) return [];
  const rows = await database.slowRows<EntryRow>(
    getSlowReadCaller(query),
    sql`
    select ${ENTRY_COLUMNS} from audit_trail_entries e
     where e.organization = ${query.organization} and e.ordinal = any (${ordinals}::bigint[])`,
  );
  const entries = new Map(rows.map((row) => [row.ordinal, { ordinal: row.ordinal, entry: toTrailEntry(row) }]));
  return ordinals.flatMap((ordinal) => entries.get(ordinal) ?? []);
};

/**
 * Returns at most `limit` entries of a range, oldest first. Reads by order and limit instead of exact ordinals: if the
 * first entries have been pruned, the next ones take their place.
 */
export const readNextEntries = async (
  database: Database,
  query: TrailFilter,
  trail: TrailWindow,
  range: OrdinalRange,
  limit: number,
): Promise<NumberedEntry[]> => {
  if (getRangeLength(range) === 0) return [];
  if (isFiltered(query.filter)) return readNextMatches(database, query, trail, range, limit);
  const rows = await database.slowRows<EntryRow>(
    getSlowReadCaller(query),
    sql`
    select ${ENTRY_COLUMNS} from audit_trail_entries e
     where e.organization = ${query.organization} and ${isInRange(range)} order by e.ordinal limit ${limit}`,
  );
  return rows.map((row) => ({ ordinal: row.ordinal, entry: toTrailEntry(row) }));
};

const readNextMatches = async (
  database: Database,
  query: TrailFilter,
  trail: TrailWindow,
  { from, to }: OrdinalRange,
  limit: number,
): Promise<NumberedEntry[]> => {
  const entries: NumberedEntry[] = [];
  for (let next = from; next <= to && entries.length < limit;) {
    const missing = limit - entries.length;
    const ordinals = await findNextMatches(database, query, trail, { from: next, to }, missing);
    entries.push(...(await readEntries(database, query, ordinals)));
    if (ordinals.length < missing) break;
    // Blocks can contain the ordinals of entries that were pruned.
    next = (ordinals.at(-1) ?? to) + 1;
  }
  return entries;
};

/** Returns the id of an entry; null if it has been pruned. */
export const findEntryId = async (
  database: Database,
  organization: string,
  ordinal: number,
): Promise<string | null> => {
  const row = await database.row<{ id: string }>(
    sql`select id from audit_trail_entries where organization = ${organization} and ordinal = ${ordinal}`,
  );
  return row?.id ?? null;
};
