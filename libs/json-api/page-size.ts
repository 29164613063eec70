import { sql, type Sql } from '#kernel';
import type { PageRequest } from './paging.js';

/** Bytes of values on one page of a list: pages have fewer items if those are large. */
export const PAGE_BYTES = 4 * 1024 * 1024;

const isWithin = (lengths: readonly number[], size: number, limit: number): boolean => {
  let sum = 0;
  for (const [n, length] of lengths.entries()) {
    sum = n % size === 0 ? length : sum + length;
    if (sum > limit && size > 1) return false;
  }
  return true;
};

/**
 * The largest page size, up to the one that was asked for, at which no page of the list has more bytes than the limit.
 * One for the whole list: clients count pages, so each of them must be cut at the same places. A single item may be
 * larger than the limit.
 */
export const fitPageSize = (lengths: readonly number[], asked: number, limit = PAGE_BYTES): number => {
  let size = asked;
  while (!isWithin(lengths, size, limit)) size -= 1;
  return size;
};

/**
 * The same in SQL, for lists that are not read whole: an expression that yields the page size. `lengths` is a query for one
 * number of bytes for each item of the whole list. Pages are all cut at the same places, as if each item of a list that
 * exceeds the limit were as large as its largest.
 */
export const buildFittingPageSize = ({ size }: PageRequest, lengths: Sql, limit = PAGE_BYTES): Sql => sql`(
  select case when coalesce(sum(item.length), 0) <= ${limit} then ${size}::bigint
              else greatest(1, least(${size}::bigint, ${limit}::bigint / max(item.length))) end
    from (${lengths}) item (length))`;
