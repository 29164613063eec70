import { sql, formatTimestamp, type Sql, type Timestamp } from '#kernel';
import type { Database } from '#postgres';
import { requireCurrentAccess, type Actor } from '#access';
import type { PageRequest } from '#json-api';
import type { TrailQuery } from './trail-query.filter.js';
import type { TrailEntry, EntryVisibility } from '../writing/trail-entry.js';
import { isFiltered } from './trail-entry-filter.js';
import { getRangeLength, computePageRange, type OrdinalRange } from './ordinal-range.js';
import type { NumberedEntry } from '../writing/trail.js';
import { selectKeptFrom } from '../retention/entry-retention.queries.js';
import type { PinnedPagination } from './pagination.js';

/**
 * State of an audit trail and the bounds of a query, as ordinals. Each ordinal takes one index lookup. The entries are
 * read afterwards, as ranges of ordinals.
 */
export type TrailWindow = {
  /** Timestamp and ordinal of the newest entry; the epoch and 0 if there is no entry. */
  readonly last: Timestamp;
  readonly length: number;
  /**
   * The first ordinal that retention still shows, and the first of these later than `since`. One past the end if there
   * is none.
   */
  readonly retained: number;
  readonly first: number;
  /**
   * The last ordinal not later than `until`, and the last not later than the pinned upper bound; 0 if there is none.
   */
  readonly until: number;
  readonly pinned: number;
  /** Ordinal of the cursor; null if there is no cursor or no such entry. */
  readonly cursor: number | null;
  /** Whether the id of the cursor is an audited event of this organization. */
  readonly happened: boolean;
  /** Ids of the actors in the filter, who are named by id or by name. */
  readonly accessors: readonly string[];
};

const selectOrdinalBefore = (time: Timestamp | null): Sql => sql`coalesce((
  select e.ordinal from audit_trail_entries e
   where e.organization = target.organization and e.timestamp <= ${time}::timestamptz
   order by e.timestamp desc limit 1), 0)`;

const selectFirstOrdinal = (condition: Sql): Sql => sql`coalesce((
  select e.ordinal from audit_trail_entries e
   where e.organization = target.organization and ${condition}
   order by e.timestamp limit 1), t.length + 1)`;

/** Returns undefined if the organization has no audit trail. */
export const readTrail = async (
  database: Database,
  actor: Actor,
  { organization, since, until, after, filter, now }: TrailQuery,
  { pagination, unaudited }: { readonly pagination: PinnedPagination | null; readonly unaudited: readonly string[] },
): Promise<TrailWindow | undefined> => {
  const isShown = sql`e.timestamp >= ${selectKeptFrom(now)}`;
  const later = since === null ? isShown : sql`${isShown} and e.timestamp > ${formatTimestamp(since)}`;
  const cursor = after || null;
  const row = await database.row<(TrailWindow & { open: boolean }) | { open: null }>(sql`
    select t.open, coalesce(t.last, 'epoch') as last, t.length, ${selectFirstOrdinal(isShown)} as retained, ${selectFirstOrdinal(later)} as first,
           ${until === null ? sql`t.length` : selectOrdinalBefore(formatTimestamp(until))} as until,
           ${pagination === null ? sql`t.length` : selectOrdinalBefore(pagination.upper)} as pinned,
           (select e.ordinal from audit_trail_entries e
             where e.id = ${cursor}::uuid and e.organization = target.organization) as cursor,
           exists (select from event_store.events v
                    where v.id = ${cursor}::uuid and v.organization = target.organization
                      and v.type <> all (${unaudited}::text[])) as happened,
           ${filter.actor}::text[] || array(
             select a.accessor from audit_trail_actors a
              where a.organization = target.organization and a.name = any (${filter.actor}::text[])) as accessors
      from (values (${organization})) as target (organization)
      left join audit_trails t on t.organization = target.organization
      left join audit_trail_settings s on s.organization = target.organization
     where ${requireCurrentAccess(actor)}`);
  return row?.open ? row : undefined;
};

type TrailFilter = Pick<TrailQuery, 'organization' | 'filter'>;

/** Returns the caller for limits on slow reads. The caller of an audit trail is the organization of the token. */
const getSlowReadCaller = ({ organization }: TrailFilter): { readonly id: string } => ({ id: organization });

const isInRange = ({ from: first, to }: OrdinalRange): Sql => sql`ordinal between ${first} and ${to}`;

/**
 * Returns a condition that an index can evaluate, whichever index Postgres chooses: each contains all columns of the
 * filter.
 */
const selectMatchingOrdinals = (
  { organization, filter }: TrailFilter,
  { accessors }: TrailWindow,
  range: OrdinalRange,
): Sql => {
  const { resourceType, action, actor, resourceId } = filter;
  const anyOf = (
    column: keyof typeof COLUMNS,
    filterValues: readonly string[],
    values = filterValues,
  ): readonly Sql[] => {
    if (filterValues.length === 0) return [];
    const [only] = values;
    // With a single value, the entries are in order in the index.
    return values.length === 1
      ? [sql`${COLUMNS[column]} = ${only}`]
      : [sql`${COLUMNS[column]} = any (${values}::text[])`];
  };
  return sql.and([
    sql`organization = ${organization}`,
    isInRange(range),
    ...anyOf('resourceType', resourceType),
    ...anyOf('action', action),
    ...anyOf('accessor', actor, [...new Set(accessors)]),
    ...anyOf('resourceId', resourceId),
  ]);
};

const COLUMNS = {
  resourceType: sql.raw('resource_type'),
  action: sql.raw('action'),
  accessor: sql.raw('accessor'),
  resourceId: sql.raw('resource_id'),
};

type TrailPageRows = { readonly entries: readonly TrailEntry[]; readonly total: number; readonly newer: number };

/** Returns one page, newest first, the total count, and the number of newer entries before the first page. */
export const readPage = async (
  database: Database,
  query: TrailFilter & { readonly page: PageRequest },
  trail: TrailWindow,
  { pinned, newer }: { readonly pinned: OrdinalRange; readonly newer: number },
): Promise<TrailPageRows> => {
  const { organization, page } = query;
  if (isFiltered(query.filter)) return readMatching(database, query, trail, { pinned, newer });
  const rows = await database.slowRows<{ entry: TrailEntry }>(
    getSlowReadCaller(query),
    sql`
    select entry from audit_trail_entries
     where organization = ${organization} and ${isInRange(computePageRange(pinned, page, newer))}
     order by ordinal desc`,
  );
  return { entries: rows.map(({ entry }) => entry), total: getRangeLength(pinned), newer };
};

/** Returns a page of filtered entries. They have to be counted, and skipped to find the page. */
const readMatching = async (
  database: Database,
  query: TrailFilter & { readonly page: PageRequest },
  trail: TrailWindow,
  { pinned, newer }: { readonly pinned: OrdinalRange; readonly newer: number },
): Promise<TrailPageRows> => {
  const { organization, page } = query;
  const where = selectMatchingOrdinals(query, trail, { ...pinned, to: pinned.to + newer });
  const size = newer > 0 ? sql`${page.size} + counted.newer` : sql`${page.size}`;
  const rows = await database.slowRows<{ total: number; newer: number; entry: TrailEntry | null }>(
    getSlowReadCaller(query),
    sql.unkept(sql`
      select counted.total, counted.newer, page.entry
        from (select count(*) filter (where ordinal <= ${pinned.to}) as total,
                     count(*) filter (where ordinal > ${pinned.to}) as newer
                from audit_trail_entries where ${where}) counted
        left join lateral (
          select e.ordinal, e.entry
            from (select ordinal from audit_trail_entries where ${where}
                   order by ordinal desc limit ${size} offset ${(page.number - 1) * page.size}) found
            join audit_trail_entries e on e.organization = ${organization} and e.ordinal = found.ordinal) page on true
       order by page.ordinal desc`),
  );
  return {
    entries: rows.flatMap(({ entry }) => entry ?? []),
    total: rows[0]?.total ?? 0,
    newer: rows[0]?.newer ?? 0,
  };
};

/** An entry as a line of JSON, and its ordinal. */
export type EntryLine = { readonly ordinal: number; readonly line: string };

const ENTRY = sql.raw('e.ordinal, e.entry');
const LINE = sql.raw('e.ordinal, e.entry::text as line');
const LINE_WITHOUT_CLIENT = sql.raw(
  `e.ordinal, (e.entry #- '{request,address}' #- '{request,user_agent}')::text as line`,
);

/**
 * Selects by order and limit instead of exact ordinals: if the first entries have been pruned, the next ones take their
 * place.
 */
const selectNextEntries = (
  columns: Sql,
  { organization, filter }: TrailFilter,
  trail: TrailWindow,
  range: OrdinalRange,
  limit: number,
) =>
  isFiltered(filter)
    ? sql.unkept(sql`
        select ${columns}
          from (select ordinal from audit_trail_entries where ${selectMatchingOrdinals({ organization, filter }, trail, range)}
                 order by ordinal limit ${limit}) found
          join audit_trail_entries e on e.organization = ${organization} and e.ordinal = found.ordinal
         order by e.ordinal`)
    : sql`
        select ${columns} from audit_trail_entries e
         where organization = ${organization} and ${isInRange(range)} order by ordinal limit ${limit}`;

/** Returns at most `limit` entries of a range, oldest first. */
export const readNextEntries = async (
  database: Database,
  query: TrailFilter,
  trail: TrailWindow,
  range: OrdinalRange,
  limit: number,
): Promise<NumberedEntry[]> =>
  getRangeLength(range) === 0
    ? []
    : database.slowRows<NumberedEntry>(getSlowReadCaller(query), selectNextEntries(ENTRY, query, trail, range, limit));

/** Returns the same entries as lines of JSON, without parsing them. */
export const readEntryLines = async (
  database: Database,
  query: TrailFilter & EntryVisibility,
  trail: TrailWindow,
  range: OrdinalRange,
  limit: number,
): Promise<EntryLine[]> =>
  getRangeLength(range) === 0
    ? []
    : database.slowRows<EntryLine>(
        getSlowReadCaller(query),
        selectNextEntries(query.clientDetails ? LINE : LINE_WITHOUT_CLIENT, query, trail, range, limit),
      );

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
