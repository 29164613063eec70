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
 * Where a trail stands, and what of it a question is about: in ordinals, of which each is one look into an index. What
 * is read afterwards are stretches of them.
 */
export type TrailWindow = {
  /** The newest entry's timestamp and ordinal; the epoch and 0 while there is no entry. */
  readonly last: Timestamp;
  readonly length: number;
  /** The first that is still shown; and the first of these that is later than `since`. One past the end where none is. */
  readonly retained: number;
  readonly first: number;
  /** The last that is not later than `until`, and the last not later than the walk's bound; 0 where all are. */
  readonly until: number;
  readonly pinned: number;
  /** The cursor's; null where there is none, or no such entry. */
  readonly cursor: number | null;
  /** Whether what the cursor names ever happened in this organization, and is told. */
  readonly happened: boolean;
  /** Ids of those who are asked for, by name or by id. */
  readonly accessors: readonly string[];
};

const selectOrdinalBefore = (moment: Timestamp | null): Sql => sql`coalesce((
  select e.ordinal from audit_trail_entries e
   where e.organization = asked.organization and e.timestamp <= ${moment}::timestamptz
   order by e.timestamp desc limit 1), 0)`;

const selectFirstOrdinal = (condition: Sql): Sql => sql`coalesce((
  select e.ordinal from audit_trail_entries e
   where e.organization = asked.organization and ${condition}
   order by e.timestamp limit 1), t.length + 1)`;

/** Undefined where the organization has no trail. */
export const readTrail = async (
  database: Database,
  actor: Actor,
  { organization, since, until, after, filter, now }: TrailQuery,
  { pagination, untold }: { readonly pagination: PinnedPagination | null; readonly untold: readonly string[] },
): Promise<TrailWindow | undefined> => {
  const shown = sql`e.timestamp >= ${selectKeptFrom(now)}`;
  const later = since === null ? shown : sql`${shown} and e.timestamp > ${formatTimestamp(since)}`;
  const cursor = after || null;
  const row = await database.row<TrailWindow & { open: boolean | null }>(sql`
    select t.open, coalesce(t.last, 'epoch') as last, t.length, ${selectFirstOrdinal(shown)} as retained, ${selectFirstOrdinal(later)} as first,
           ${until === null ? sql`t.length` : selectOrdinalBefore(formatTimestamp(until))} as until,
           ${pagination === null ? sql`t.length` : selectOrdinalBefore(pagination.upper)} as pinned,
           (select e.ordinal from audit_trail_entries e
             where e.id = ${cursor}::uuid and e.organization = asked.organization) as cursor,
           exists (select from event_store.events v
                    where v.id = ${cursor}::uuid and v.organization = asked.organization
                      and v.type <> all (${untold}::text[])) as happened,
           ${filter.actor}::text[] || array(
             select a.accessor from audit_trail_actors a
              where a.organization = asked.organization and a.name = any (${filter.actor}::text[])) as accessors
      from (values (${organization})) as asked (organization)
      left join audit_trails t on t.organization = asked.organization
      left join audit_trail_settings s on s.organization = asked.organization
     where ${requireCurrentAccess(actor)}`);
  return row?.open ? row : undefined;
};

type TrailFilter = Pick<TrailQuery, 'organization' | 'filter'>;

/** The caller of a trail is the organization whose token it is. */
const getSlowReadCaller = ({ organization }: TrailFilter): { readonly id: string } => ({ id: organization });

const isInRange = ({ from: first, to }: OrdinalRange): Sql => sql`ordinal between ${first} and ${to}`;

/** Their ordinals come from an index, whichever Postgres holds for the best: each has what the others filter by. */
const selectMatchingOrdinals = (
  { organization, filter }: TrailFilter,
  { accessors }: TrailWindow,
  stretch: OrdinalRange,
): Sql => {
  const { resourceType, action, actor, resourceId } = filter;
  const anyOf = (column: keyof typeof COLUMNS, asked: readonly string[], values = asked): readonly Sql[] => {
    if (asked.length === 0) return [];
    const [only] = values;
    // One value is the beginning of an index in which they are in order.
    return values.length === 1
      ? [sql`${COLUMNS[column]} = ${only}`]
      : [sql`${COLUMNS[column]} = any (${values}::text[])`];
  };
  return sql.and([
    sql`organization = ${organization}`,
    isInRange(stretch),
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

/** One page, newest first, how many entries all pages have, and how many newer ones stand before the first. */
export const readPage = async (
  database: Database,
  asked: TrailFilter & { readonly page: PageRequest },
  trail: TrailWindow,
  { pinned, newer }: { readonly pinned: OrdinalRange; readonly newer: number },
): Promise<TrailPageRows> => {
  const { organization, page } = asked;
  if (isFiltered(asked.filter)) return readMatching(database, asked, trail, { pinned, newer });
  const rows = await database.slowRows<{ entry: TrailEntry }>(
    getSlowReadCaller(asked),
    sql`
    select entry from audit_trail_entries
     where organization = ${organization} and ${isInRange(computePageRange(pinned, page, newer))}
     order by ordinal desc`,
  );
  return { entries: rows.map(({ entry }) => entry), total: getRangeLength(pinned), newer };
};

/** The same of what a filter leaves: how many these are has to be counted, and in pages they have to be passed over. */
const readMatching = async (
  database: Database,
  asked: TrailFilter & { readonly page: PageRequest },
  trail: TrailWindow,
  { pinned, newer }: { readonly pinned: OrdinalRange; readonly newer: number },
): Promise<TrailPageRows> => {
  const { organization, page } = asked;
  const where = selectMatchingOrdinals(asked, trail, { ...pinned, to: pinned.to + newer });
  const size = newer > 0 ? sql`${page.size} + counted.newer` : sql`${page.size}`;
  const rows = await database.slowRows<{ total: number; newer: number; entry: TrailEntry | null }>(
    getSlowReadCaller(asked),
    sql.unkept(sql`
      select counted.total, counted.newer, shown.entry
        from (select count(*) filter (where ordinal <= ${pinned.to}) as total,
                     count(*) filter (where ordinal > ${pinned.to}) as newer
                from audit_trail_entries where ${where}) counted
        left join lateral (
          select e.ordinal, e.entry
            from (select ordinal from audit_trail_entries where ${where}
                   order by ordinal desc limit ${size} offset ${(page.number - 1) * page.size}) found
            join audit_trail_entries e on e.organization = ${organization} and e.ordinal = found.ordinal) shown on true
       order by shown.ordinal desc`),
  );
  return {
    entries: rows.flatMap(({ entry }) => entry ?? []),
    total: rows[0]?.total ?? 0,
    newer: rows[0]?.newer ?? 0,
  };
};

/** An entry as a line of text, and its ordinal. */
export type EntryLine = { readonly ordinal: number; readonly line: string };

const ENTRY = sql.raw('e.ordinal, e.entry');
const LINE = sql.raw('e.ordinal, e.entry::text as line');
const LINE_WITHOUT_CLIENT = sql.raw(
  `e.ordinal, (e.entry #- '{request,address}' #- '{request,user_agent}')::text as line`,
);

/** By their order and a limit: the first of them may have been pruned by now, and then the next ones count. */
const selectNextEntries = (
  columns: Sql,
  { organization, filter }: TrailFilter,
  trail: TrailWindow,
  stretch: OrdinalRange,
  limit: number,
) =>
  isFiltered(filter)
    ? sql.unkept(sql`
        select ${columns}
          from (select ordinal from audit_trail_entries where ${selectMatchingOrdinals({ organization, filter }, trail, stretch)}
                 order by ordinal limit ${limit}) found
          join audit_trail_entries e on e.organization = ${organization} and e.ordinal = found.ordinal
         order by e.ordinal`)
    : sql`
        select ${columns} from audit_trail_entries e
         where organization = ${organization} and ${isInRange(stretch)} order by ordinal limit ${limit}`;

/** At most so many of a stretch, oldest first, with their ordinals. */
export const readNextEntries = async (
  database: Database,
  asked: TrailFilter,
  trail: TrailWindow,
  stretch: OrdinalRange,
  limit: number,
): Promise<NumberedEntry[]> =>
  getRangeLength(stretch) === 0
    ? []
    : database.slowRows(getSlowReadCaller(asked), selectNextEntries(ENTRY, asked, trail, stretch, limit));

/** The same as JSON that nobody has parsed. */
export const readEntryLines = async (
  database: Database,
  asked: TrailFilter & EntryVisibility,
  trail: TrailWindow,
  stretch: OrdinalRange,
  limit: number,
): Promise<EntryLine[]> =>
  getRangeLength(stretch) === 0
    ? []
    : database.slowRows(
        getSlowReadCaller(asked),
        selectNextEntries(asked.clientDetails ? LINE : LINE_WITHOUT_CLIENT, asked, trail, stretch, limit),
      );

/** The id of an entry, null where it has been pruned. */
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
