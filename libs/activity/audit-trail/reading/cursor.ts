import { Refusal } from '#platform/kernel';
import type { OrdinalRange } from './ordinal-range.js';
import type { TrailPagination } from './pagination.js';

export type CursorPosition = {
  /** Id of the entry after which to read. Empty: read from the oldest entry. Null: no cursor. */
  readonly after: string | null;
  /**
   * Ordinal of that entry; null if there is no such entry. `happened`: whether it is an audited event of this
   * organization.
   */
  readonly cursor: number | null;
  readonly happened: boolean;
  /** Ordinal of the first entry that retention still shows. */
  readonly retained: number;
  /** First and last ordinal that the other parameters allow. */
  readonly first: number;
  readonly upTo: number;
};

const refuse = (detail: string, meta?: Readonly<Record<string, unknown>>): Refusal =>
  new Refusal('unprocessable', [{ detail, parameter: 'after', ...(meta ? { meta } : {}) }]);

export const createEntriesGoneRefusal = (): Refusal =>
  refuse('Entries after this one have been deleted. Start with the oldest entry: after=', { gone: true });

/**
 * Returns the range after a cursor. Throws if entries that the reader has not seen were pruned, because otherwise the
 * reader would take the remaining ones for complete. If only the entry of the cursor has expired, nothing is missing:
 * pruning leaves the last expired entry for this case (entry-retention.queries.ts).
 */
export const computeRangeAfter = ({ after, cursor, happened, retained, first, upTo }: CursorPosition): OrdinalRange => {
  if (!after) return { from: first, to: upTo };
  if (cursor === null && !happened) throw refuse('After is not the id of an entry of this trail');
  if (cursor === null || cursor < retained - 1) throw createEntriesGoneRefusal();
  return { from: Math.max(first, cursor + 1), to: upTo };
};

/** Pagination of a response to a cursor: one page without a next page. The reader continues at `next_after`. */
export type CursorPagination = TrailPagination & {
  /** Cursor of the next request. Null only if the audit trail has no entries at all. */
  readonly next_after: string | null;
  readonly more: boolean;
};

export const buildCursorPagination = (
  size: number,
  count: number,
  { nextAfter, more }: { readonly nextAfter: string | null; readonly more: boolean },
): CursorPagination => ({
  current_page: 1,
  prev_page: null,
  next_page: null,
  total_pages: count > 0 ? 1 : 0,
  total_count: count,
  page_size: size,
  next_after: nextAfter,
  more,
});
