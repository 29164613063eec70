import type { Timestamp } from '#kernel';

/**
 * A reader's walk through the pages of a trail, newest entry first.
 *
 * Pages are counted from an upper bound that is pinned when page 1 is read, so that new entries do not push what a
 * reader has not seen yet across a page's edge. Readers send nothing but `since` and a page number, so the bound is
 * remembered for them (schema audit_trail), in Postgres, for any gateway may get the next page.
 *
 *   page 1 ──► pinned ──page 2, 3 …──► pinned ──the hour is over──► forgotten
 *     ▲──────────┘ page 1 again
 *
 * Page 1 again, with the same `since`, can mean two things, and nothing in the request tells them apart. A reader begins
 * anew, and must find what was written in between. Or it is Cortex, which reads page 1 to learn how many pages there
 * are, throws its entries away, and reads all pages side by side, the last one first, the first again among them; were
 * that one pinned anew, the entries that new ones push off it would be on none of the pages it gets. So for a while both
 * get the pinned first page whole, and what is newer before it: it may be longer than a page then. Where so much is newer
 * that it would be far too long, the newest are left for the next poll, which asks for what is later than the last it got.
 * Only readers who resume, with `since` and page number, are in that danger; all others get page 1 pinned anew.
 */
export type PinnedPagination = { readonly upper: Timestamp; readonly startedAt: Timestamp };

/** Walks are forgotten after this; a page asked for later pins the bound anew. */
export const PAGINATION_LIFETIME_MS = 60 * 60 * 1_000;
/**
 * Not a whole minute: many readers come once in one. Where their last poll broke off, this one's first question would come
 * just before the end, and its second just after.
 */
const RESUME_WINDOW_MS = 90 * 1_000;
/** Of newer entries before the first page. */
const MAX_NEWER_ENTRIES = 10_000;

export type PageView = {
  /** Pages are counted from here. */
  readonly upper: Timestamp;
  /** So many entries are shown before the first page: those next to it. */
  readonly newer: number;
  /** The walk that begins with this page; null where one goes on. */
  readonly newPagination: PinnedPagination | null;
};

export type PageViewRequest = {
  readonly page: { readonly number: number; readonly size: number };
  /** Both `since` and the page's number were given. */
  readonly resumes: boolean;
  readonly now: Date;
  /** The newest entry's. */
  readonly last: Timestamp;
  readonly pagination: PinnedPagination | null;
  /** How many entries are newer than the walk's bound. */
  readonly newer: number;
};

export const choosePageView = ({ page, resumes, now, last, pagination, newer }: PageViewRequest): PageView => {
  if (pagination && page.number > 1) return { upper: pagination.upper, newer: 0, newPagination: null };
  if (pagination && resumes && now.getTime() - Date.parse(pagination.startedAt) <= RESUME_WINDOW_MS) {
    return { upper: pagination.upper, newer: Math.min(newer, MAX_NEWER_ENTRIES), newPagination: null };
  }
  return { upper: last, newer: 0, newPagination: { upper: last, startedAt: now.toISOString() } };
};

/** Most polls get all there is on one page; of these, only those that resume can be asked for again (see above). */
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

/** All keys always, null where there is no such page (clients.md §6). `total` are the entries that pages are made of. */
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
