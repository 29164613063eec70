import { badRequest, Refusal } from '#kernel';
import { getListParameter, parsePage, getParameter, type PageRequest, type QueryParameters } from '#json-api';
import { parseTrailEntryFilter, type TrailEntryFilter } from './trail-entry-filter.js';
import { parseTrailTimestamp } from './trail-timestamp.js';

/** What a reader asks for. Moments are in milliseconds, null where none was named. */
export type TrailQuery = {
  /** `org-…` */
  readonly organization: string;
  readonly since: number | null;
  readonly until: number | null;
  readonly filter: TrailEntryFilter;
  /** The id of an entry: what comes after it. Empty: from the oldest on. Null: no cursor. */
  readonly after: string | null;
  readonly now: Date;
};

/** Pages, newest entry first. */
export type TrailPageQuery = TrailQuery & {
  readonly page: PageRequest;
  /** See pagination.ts. */
  readonly resumes: boolean;
};

const MAX_SIZE = 1_000;
/** parseTrailEntryFilter checks the length of each value. */
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

// Splunk's app says `page`.
const parsePageNumber = (query: QueryParameters): string | undefined =>
  getParameter(query, 'page[number]') ?? getParameter(query, 'page');

/** Whether somebody has pages in mind, well put or not. */
export const isPageRequest = (query: QueryParameters): boolean =>
  ['page', 'page[number]', 'page[size]'].some((name) => query[name] !== undefined);

export const parseTrailPageQuery = (query: QueryParameters, question: TrailQuery): TrailPageQuery => {
  const number = parsePageNumber(query);
  const page = parsePage({ ...query, 'page[number]': number }, MAX_SIZE, MAX_SIZE);
  // Whoever counts on after a cursor would get the same entries again.
  if (question.after !== null && page.number > 1)
    throw badRequest('after and a page number exclude each other', 'after');
  return { ...question, page, resumes: question.since !== null && number !== undefined };
};
