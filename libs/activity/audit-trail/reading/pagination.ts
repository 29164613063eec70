import type { Timestamp } from '#platform/kernel';

/**
 * How a reader goes through the pages of an audit trail, newest entry first.
 *
 * Pages are counted from an upper bound that is pinned when page 1 is read, so that new entries do not move unread
 * entries to another page. Readers send only `since` and a page number, so the server stores the bound (schema
 * audit_trail), in Postgres, because any gateway may receive the next request.
 *
 *   page 1 ──► pinned ──page 2, 3 …──► pinned ──after an hour──► deleted
 *     ▲──────────┘ page 1 again
 *
 * Page 1 again with the same `since` has two possible reasons that the request does not distinguish. Either the reader
 * starts again and needs the entries written in between. Or it is Cortex, which reads page 1 for the number of pages,
 * discards its entries, and then reads all pages concurrently, last page first and page 1 included. If that request
 * pinned a new bound, the entries that new ones push off page 1 would be on none of its pages. So for a while both
 * readers get the complete pinned first page preceded by newer entries; it may be longer than a page then. If there are
 * too many newer entries, the newest are omitted until the next poll, which asks for entries later than the last one
 * received. Only readers that resume, with `since` and a page number, have this problem. For all others, page 1 pins a
 * new bound.
 */
export type PinnedPagination = { readonly upper: Timestamp; readonly startedAt: Timestamp };

/** Lifetime of a pinned bound. A page that is requested later pins a new bound. */
export const PAGINATION_LIFETIME_MS = 60 * 60 * 1_000;
/**
 * Not a full minute, because many readers poll once a minute. After an interrupted poll, the first request of the next
 * one would come just before the end of the window, and the second just after it.
 */
const RESUME_WINDOW_MS = 90 * 1_000;
const MAX_NEWER_ENTRIES = 10_000;

type PageView = {
  /** Upper bound from which pages are counted. */
  readonly upper: Timestamp;
  /** Number of newer entries before the first page: the oldest of those newer than the bound. */
  readonly newer: number;
  /** The bound that this page pins; null if it uses a stored one. */
  readonly newPagination: PinnedPagination | null;
};

export type PageViewRequest = {
  readonly page: { readonly number: number; readonly size: number };
  /** Whether the request has both `since` and a page number. */
  readonly resumes: boolean;
  readonly now: Date;
  readonly last: Timestamp;
  readonly pagination: PinnedPagination | null;
  /** Number of entries newer than the pinned bound. */
  readonly newer: number;
};

export const choosePageView = ({ page, resumes, now, last, pagination, newer }: PageViewRequest): PageView => {
  if (pagination && page.number > 1) return { upper: pagination.upper, newer: 0, newPagination: null };
  if (pagination && resumes && now.getTime() - Date.parse(pagination.startedAt) <= RESUME_WINDOW_MS) {
    return { upper: pagination.upper, newer: Math.min(newer, MAX_NEWER_ENTRIES), newPagination: null };
  }
  return { upper: last, newer: 0, newPagination: { upper: last, startedAt: now.toISOString() } };
};

/**
 * Returns whether to store the bound. Most polls fit on one page; of these, only requests that resume may be repeated
 * (see above).
 */
export const shouldSavePagination = (
  { page, resumes }: Pick<PageViewRequest, 'page' | 'resumes'>,
  total: number,
): boolean => total > (resumes ? 0 : page.size);

export type TrailPagination = {
  readonly current_page: number;
  readonly prev_page: number | null;
  readonly next_page: number | null;
  readonly total_pages: number;
  readonly total_count: number;
  readonly page_size: number;
};

/**
 * Returns all keys, with null if there is no such page. `total`: number of entries on the pages,
 * without newer ones.
 */
export const buildPagination = (
  { number, size }: PageViewRequest['page'],
  total: number,
  newer: number,
): TrailPagination => {
  const pages = Math.ceil(total / size);
  return {
    current_page: number,
    prev_page: number > 1 && number <= pages + 1 ? number - 1 : null,
    next_page: number < pages ? number + 1 : null,
    total_pages: pages,
    total_count: total + newer,
    page_size: size,
  };
};
