import { Refusal } from '#kernel';
import type { OrdinalRange } from './ordinal-range.js';
import type { TrailPagination } from './pagination.js';

export type CursorPosition = {
  /** The id of the entry whose followers are asked for; empty: from the oldest on; null: nothing is followed. */
  readonly after: string | null;
  /** Its ordinal, null where there is no such entry; and whether it ever was in this organization. */
  readonly cursor: number | null;
  readonly happened: boolean;
  /** The first entry that is still shown. */
  readonly retained: number;
  /** The first and the last of what else is asked for. */
  readonly first: number;
  readonly upTo: number;
};

const refuse = (detail: string, meta?: Readonly<Record<string, unknown>>): Refusal =>
  new Refusal('unprocessable', [{ detail, parameter: 'after', ...(meta ? { meta } : {}) }]);

export const createEntriesGoneRefusal = (): Refusal =>
  refuse('Entries after that one are not kept any more. Begin with the oldest that is: after=', { gone: true });

/**
 * The stretch that comes after a cursor. A reader who comes so late that entries have gone which it has not seen must be
 * told, or it would take what is left for all there was. Where the cursor alone has become too old nothing is missing: the
 * entry before the first that is shown stays for that (entry-retention.queries.ts).
 */
export const computeRangeAfter = ({ after, cursor, happened, retained, first, upTo }: CursorPosition): OrdinalRange => {
  if (!after) return { from: first, to: upTo };
  if (cursor === null && !happened) throw refuse('After is not the id of an entry of this trail');
  if (cursor === null || cursor < retained - 1) throw createEntriesGoneRefusal();
  return { from: Math.max(first, cursor + 1), to: upTo };
};

/** A cursor's answer is a page of its own: whoever looks for the next page finds none, and goes on at `next_after`. */
export type CursorPagination = TrailPagination & {
  /** Where to go on: what is asked for after this one comes next. Null only where there has been nothing at all. */
  readonly next_after: string | null;
  /** Whether something is there by now. */
  readonly more: boolean;
};

export const buildCursorPagination = (
  size: number,
  shown: number,
  { nextAfter, more }: { readonly nextAfter: string | null; readonly more: boolean },
): CursorPagination => ({
  current_page: 1,
  prev_page: null,
  next_page: null,
  total_pages: shown > 0 ? 1 : 0,
  total_count: shown,
  page_size: size,
  next_after: nextAfter,
  more,
});
