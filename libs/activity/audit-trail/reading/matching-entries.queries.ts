import { sql, type Sql } from '#platform/kernel';
import type { Database } from '#platform/postgres';
import type { PageRequest } from '#api/json-api';
import type { TrailQuery } from './trail-query.filter.js';
import type { TrailWindow } from './trail-window.js';
import { getRangeLength, type OrdinalRange } from './ordinal-range.js';
import {
  countCompleteBlocks,
  ENTRIES_PER_BLOCK,
  getBlockOf,
  getBlockRange,
  NO_MATCHES,
} from '../blocks/trail-blocks.js';
import { RESOURCE_PART_BITS } from '../blocks/entry-indexes.queries.js';

// These queries find the entries that match a filter, as ordinals. Matches are sets of bits, one set for each block of
// entries: the sets of several filters are combined bit by bit, and counted without reading entries. Entries are read
// only in the oldest and newest block of an audit trail, which are not complete.

export type TrailFilter = Pick<TrailQuery, 'organization' | 'filter'>;

/** Returns the caller for limits on slow reads: everybody who reads an audit trail shares those of its organization. */
export const getSlowReadCaller = ({ organization }: TrailFilter): { readonly id: string } => ({ id: organization });

const PER_BLOCK = sql.raw(String(ENTRIES_PER_BLOCK));
const BLOCK_OF = sql.raw(`((ordinal - 1) / ${ENTRIES_PER_BLOCK})::integer`);
const BITS = sql`bit_or(set_bit(${NO_MATCHES}, ((ordinal - 1) % ${PER_BLOCK})::integer, 1))`;
const PART = sql.raw(String(RESOURCE_PART_BITS));

type FilterKind = 'type' | 'action' | 'actor' | 'resource';
type FilterValues = { readonly kind: FilterKind; readonly column: Sql; readonly values: readonly string[] };

/** Returns the parts of the filter that are set. The values of a part can be empty if no actor has a name in it. */
const listFilters = ({ filter }: TrailFilter, { accessors }: TrailWindow): readonly FilterValues[] => {
  const parts: readonly (FilterValues & { readonly isSet: boolean })[] = [
    {
      kind: 'resource',
      column: sql.raw('resource_id'),
      values: filter.resourceId,
      isSet: filter.resourceId.length > 0,
    },
    {
      kind: 'type',
      column: sql.raw('resource_type'),
      values: filter.resourceType,
      isSet: filter.resourceType.length > 0,
    },
    { kind: 'action', column: sql.raw('action'), values: filter.action, isSet: filter.action.length > 0 },
    { kind: 'actor', column: sql.raw('accessor'), values: [...new Set(accessors)], isSet: filter.actor.length > 0 },
  ];
  return parts.filter(({ isSet }) => isSet);
};

const isAnyOf = (column: Sql, values: readonly string[]): Sql =>
  values.length === 1 ? sql`${column} = ${values[0]}` : sql`${column} = any (${values}::text[])`;

/** Selects matches from entries. */
const selectFromEntries = (
  organization: string,
  filters: readonly FilterValues[],
  { from, to }: OrdinalRange,
): Sql => sql`
  select ${BLOCK_OF} as block, ${BITS} as bits
    from audit_trail_entries
   where organization = ${organization} and ordinal between ${from} and ${to}
     and ${sql.and(filters.map(({ column, values }) => isAnyOf(column, values)))}
   group by 1`;

/** Selects the ordinals of matches with a resource from the index by resource, part by part. */
const selectByResource = (query: TrailFilter, trail: TrailWindow, { from, to }: OrdinalRange): Sql => {
  const isMatch = sql`
    organization = ${query.organization} and ordinal between ${from} and ${to}
    and ${sql.and(listFilters(query, trail).map(({ column, values }) => isAnyOf(column, values)))}`;
  // The index of the earlier version has no parts.
  if (!trail.hasBlocks) return sql`select ordinal from audit_trail_entries where ${isMatch}`;
  return sql`
    select found.ordinal from generate_series(${from}::bigint >> ${PART}, ${to}::bigint >> ${PART}) part
     cross join lateral (select ordinal from audit_trail_entries where (ordinal >> ${PART}) = part and ${isMatch}) found`;
};

const hasResource = ({ filter }: TrailFilter): boolean => filter.resourceId.length > 0;

type BlockRange = { readonly first: number; readonly end: number };

/** Selects matches from complete blocks. */
const selectFromBlocks = (organization: string, filter: FilterValues, { first, end }: BlockRange): Sql => {
  const { kind, values } = filter;
  const where = sql`
    organization = ${organization} and kind = ${kind} and ${isAnyOf(sql.raw('value'), values)}
    and block >= ${first} and block < ${end}`;
  return values.length === 1
    ? sql`select block, matches as bits from audit_trail_blocks where ${where}`
    : sql`select block, bit_or(matches) as bits from audit_trail_blocks where ${where} group by block`;
};

/**
 * Selects matches of all filters from complete blocks. Groups the rows instead of joining them, because Postgres expects
 * one row of each filter, and its join would compare each block of one filter with each of the other.
 */
const selectFromAll = (organization: string, filters: readonly FilterValues[], blocks: BlockRange): Sql => {
  const parts = filters.map((filter) => selectFromBlocks(organization, filter, blocks));
  if (parts.length === 1) return sql.join(parts, '');
  return sql`
    select block, bit_and(bits) as bits from (${sql.join(parts, ' union all ')}) each_filter
     group by block having count(*) = ${parts.length}`;
};

/**
 * Returns the blocks that a query can use. Blocks with expired entries are left out, because pruning deletes them. If
 * the upgrade to blocks is not complete, there are none.
 */
const getUsableBlocks = ({ hasBlocks, length, retained }: TrailWindow, { from, to }: OrdinalRange): BlockRange => ({
  first: Math.max(getBlockOf(from), Math.ceil((retained - 1) / ENTRIES_PER_BLOCK)),
  end: hasBlocks ? Math.min(countCompleteBlocks(length), getBlockOf(to) + 1) : 0,
});

/** Removes matches outside the range, which only its first and last block can contain. */
const clipToRange = ({ from, to }: OrdinalRange): Sql => {
  const [first, last] = [getBlockOf(from), getBlockOf(to)];
  const edges = [...new Set([first, last])].map((block) => {
    const ordinals = getBlockRange(block);
    const before = Math.max(0, from - ordinals.from);
    const after = Math.max(0, ordinals.to - to);
    const mask = `${'0'.repeat(before)}${'1'.repeat(ENTRIES_PER_BLOCK - before - after)}${'0'.repeat(after)}`;
    return sql`when ${block}::integer then bits & ${mask}::bit(${PER_BLOCK})`;
  });
  return sql`case block ${sql.join(edges, ' ')} else bits end`;
};

/** Selects the blocks of a range with matches, and their bits. */
const selectMatches = (query: TrailFilter, trail: TrailWindow, range: OrdinalRange): Sql => {
  const { organization } = query;
  const filters = listFilters(query, trail);
  const blocks = getUsableBlocks(trail, range);
  if (blocks.first >= blocks.end) return selectFromEntries(organization, filters, range);
  const ends = [
    { from: range.from, to: getBlockRange(blocks.first).from - 1 },
    { from: getBlockRange(blocks.end).from, to: range.to },
  ].filter((end) => getRangeLength(end) > 0);
  return sql.join(
    [
      sql`select block, ${clipToRange(range)} as bits from (${selectFromAll(organization, filters, blocks)}) complete`,
      ...ends.map((end) => selectFromEntries(organization, filters, end)),
    ],
    ' union all ',
  );
};

/**
 * Selects ordinals of matches in `matched` (block, bits, n), in order. Chooses blocks by their counts first. Bits are
 * searched in words of 32, most of which are zero if matches are rare.
 */
const selectOrdinals = (
  direction: 'asc' | 'desc',
  { offset, limit }: { readonly offset: Sql; readonly limit: Sql },
): Sql => {
  const order = sql.raw(direction);
  return sql`
    with chosen as materialized (
      select block, bits, through - n as skipped
        from (select block, bits, n, sum(n) over (order by block ${order})::bigint as through from matched) running
       where through > ${offset} and through - n < ${offset} + ${limit})
    select chosen.block::bigint * ${PER_BLOCK} + word * 32 + place + 1 as ordinal
      from chosen
      cross join generate_series(0, ${PER_BLOCK} / 32 - 1) word
      cross join lateral (select substring(chosen.bits from word * 32 + 1 for 32) as bits offset 0) part
      cross join generate_series(0, 31) place
     where part.bits <> B'0'::bit(32) and get_bit(part.bits, place) = 1
     order by 1 ${order} offset ${offset} - (select min(skipped) from chosen) limit ${limit}`;
};

const buildMatched = (matches: Sql): Sql => sql`
  matched as materialized (
    select block, bits, bit_count(bits) as n from (${matches}) candidates where bit_count(bits) > 0)`;

type MatchCounts = { readonly total: number; readonly newer: number };

/**
 * Returns the ordinals of a page, newest first, and the number of all matches: those of the pinned range, and the newer
 * ones, which precede the first page.
 */
export const countMatches = async (
  database: Database,
  query: TrailFilter & { readonly page: PageRequest },
  trail: TrailWindow,
  { pinned, newer }: { readonly pinned: OrdinalRange; readonly newer: number },
): Promise<MatchCounts & { readonly ordinals: readonly number[] }> => {
  const { size, number } = query.page;
  const range = { ...pinned, to: pinned.to + newer };
  if (getRangeLength(range) === 0) return { total: 0, newer: 0, ordinals: [] };
  const limit = newer > 0 ? sql`(select ${size}::bigint + newer from counted)` : sql`${size}::bigint`;
  const offset = sql`${(number - 1) * size}::bigint`;
  const row = await database.slowRows<MatchCounts & { ordinals: readonly number[] }>(
    getSlowReadCaller(query),
    sql.unkept(
      hasResource(query)
        ? sql`
      with matched as materialized (${selectByResource(query, trail, range)}),
           counted as (
             select count(*) filter (where ordinal <= ${pinned.to}) as total,
                    count(*) filter (where ordinal > ${pinned.to}) as newer
               from matched)
      select total, newer,
             array(select ordinal from matched order by ordinal desc offset ${offset} limit ${limit})::float8[] as ordinals
        from counted`
        : sql`
      with ${buildMatched(selectMatches(query, trail, range))},
           counted as materialized (
             select coalesce(sum(n), 0)::bigint - newer as total, newer
               from (select sum(n) as n from matched) complete, (${countNewer(pinned.to, newer)}) later
              group by newer)
      select total, newer,
             array(${selectOrdinals('desc', { offset, limit })})::float8[] as ordinals
        from counted`,
    ),
  );
  return row[0] ?? { total: 0, newer: 0, ordinals: [] };
};

/** Counts the matches after the pinned range. */
const countNewer = (last: number, newer: number): Sql => {
  if (newer === 0) return sql`select 0::bigint as newer`;
  const block = getBlockOf(last + 1);
  const older = last % ENTRIES_PER_BLOCK;
  const isNewer = `${'0'.repeat(older)}${'1'.repeat(ENTRIES_PER_BLOCK - older)}`;
  return sql`
    select coalesce(sum(case when block = ${block} then bit_count(bits & ${isNewer}::bit(${PER_BLOCK})) else n end), 0)::bigint as newer
      from matched where block >= ${block}`;
};

/** Complete blocks in the first range that is searched, and the factor by which each next range is longer. */
const FIRST_BLOCKS = 16;
const FIRST_BLOCKS_BY_RESOURCE = 128;
const GROWTH = 8;

/** Returns the ordinals of the first matches in a range. Searches longer and longer ranges until there are enough. */
export const findNextMatches = async (
  database: Database,
  query: TrailFilter,
  trail: TrailWindow,
  { from, to }: OrdinalRange,
  limit: number,
): Promise<readonly number[]> => {
  const ordinals: number[] = [];
  let next = from;
  for (
    let blocks = hasResource(query) ? FIRST_BLOCKS_BY_RESOURCE : FIRST_BLOCKS;
    next <= to && ordinals.length < limit;
    blocks *= GROWTH
  ) {
    const last = Math.min(to, getBlockRange(getBlockOf(next) + blocks).to);
    const range = { from: next, to: last };
    const remaining = { offset: sql`0::bigint`, limit: sql`${limit - ordinals.length}::bigint` };
    const rows = await database.slowRows<{ ordinal: number }>(
      getSlowReadCaller(query),
      sql.unkept(
        hasResource(query)
          ? sql`${selectByResource(query, trail, range)} order by ordinal limit ${remaining.limit}`
          : sql`
        with ${buildMatched(selectMatches(query, trail, range))}
        select ordinal from (${selectOrdinals('asc', remaining)}) found order by ordinal`,
      ),
    );
    ordinals.push(...rows.map(({ ordinal }) => ordinal));
    next = last + 1;
  }
  return ordinals;
};
