import { badRequest, Refusal } from '#platform/kernel';
import { getListParameter, parsePage, getParameter, type PageRequest, type QueryParameters } from '#api/json-api';
import { parseTrailEntryFilter, type TrailEntryFilter } from './trail-entry-filter.js';
import { parseTrailTimestamp } from './trail-timestamp.js';

/** Query of a reader. Timestamps are in milliseconds, null if not set. */
export type TrailQuery = {
  readonly organization: string;
  readonly since: number | null;
  readonly until: number | null;
  readonly filter: TrailEntryFilter;
  /** Id of the entry after which to read. Empty: read from the oldest entry. Null: no cursor. */
  readonly after: string | null;
  readonly now: Date;
};

/** Query for a page, newest entry first. */
export type TrailPageQuery = TrailQuery & {
  readonly page: PageRequest;
  /** Whether the request has both `since` and a page number (see pagination.ts). */
  readonly resumes: boolean;
};

export const MAX_SIZE = 1_000;
/** Disables the length check, because parseTrailEntryFilter checks the length of each value. */
const VALUES = { mostCharacters: Number.POSITIVE_INFINITY };
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const parseTimestampParameter = (query: QueryParameters, name: 'since' | 'until'): number | null => {
  const text = getParameter(query, name);
  return text ? parseTrailTimestamp(name, text) : null;
};

const parseCursor = (query: QueryParameters): string | null => {
  const after = getParameter(query, 'after');
  if (!after) return after ?? null;
  if (!UUID.test(after)) {
    throw new Refusal('unprocessable', [{ detail: 'After is not the id of an entry', parameter: 'after' }]);
  }
  return after.toLowerCase();
};

export const parseTrailQuery = (query: QueryParameters, organization: string, now: Date): TrailQuery => ({
  organization,
  since: parseTimestampParameter(query, 'since'),
  until: parseTimestampParameter(query, 'until'),
  filter: parseTrailEntryFilter((name) =>
    [query[name]].flat().at(-1) ? getListParameter(query, name, VALUES) : undefined,
  ),
  after: parseCursor(query),
  now,
});

// Splunk's app sends `page`.
const parsePageNumber = (query: QueryParameters): string | undefined =>
  getParameter(query, 'page[number]') ?? getParameter(query, 'page');

/** Returns the names of the page parameters that the request has, valid or not. */
export const listPageParameters = (query: QueryParameters): readonly string[] =>
  ['page', 'page[number]', 'page[size]'].filter((name) => query[name] !== undefined);

export const parseTrailPageQuery = (query: QueryParameters, trailQuery: TrailQuery): TrailPageQuery => {
  const number = parsePageNumber(query);
  const page = parsePage({ ...query, 'page[number]': number }, MAX_SIZE, MAX_SIZE);
  // A reader that counts pages after a cursor would get the same entries again.
  if (trailQuery.after !== null && page.number > 1)
    throw badRequest('after cannot be combined with a page number', 'after');
  return { ...trailQuery, page, resumes: trailQuery.since !== null && number !== undefined };
};
