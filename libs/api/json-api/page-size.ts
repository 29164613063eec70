import { sql, type Sql } from '#platform/kernel';
import type { PageRequest } from './paging.js';

/** Bytes of values on one page of a list. A list of large items gets smaller pages. */
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
 * Returns the largest page size, up to `requestedSize`, at which no page of the list has more than `limit` bytes. All
 * pages have the same size, because clients compute offsets from it. A single item may exceed the limit.
 */
export const fitPageSize = (lengths: readonly number[], requestedSize: number, limit = PAGE_BYTES): number => {
  let size = requestedSize;
  while (!isWithin(lengths, size, limit)) size -= 1;
  return size;
};

/**
 * Returns the page size as an SQL expression, for a list that the code does not read completely. `lengths` is a query
 * for the bytes of each item of the list. If the list exceeds the limit, each item counts as large as the largest one.
 */
export const buildFittingPageSize = ({ size }: PageRequest, lengths: Sql, limit = PAGE_BYTES): Sql => sql`(
  select case when coalesce(sum(item.length), 0) <= ${limit} then ${size}::bigint
              else greatest(1, least(${size}::bigint, ${limit}::bigint / max(item.length))) end
    from (${lengths}) item (length))`;
