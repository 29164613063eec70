import { badRequest, Refused } from '#kernel';
import { listOf, pageOf, parameter, type Page, type Query } from '#json-api';
import { parseFilter, type Filter } from './filter.js';
import { parseMoment } from './moment.js';

/** What a reader asks for. Moments are in milliseconds, null where none was named. */
export type Question = {
  /** `org-…` */
  readonly organization: string;
  readonly since: number | null;
  readonly until: number | null;
  readonly filter: Filter;
  /** The id of an entry: what comes after it. Empty: from the oldest on. Null: no cursor. */
  readonly after: string | null;
  readonly now: Date;
};

/** Pages, newest entry first. */
export type PageQuestion = Question & {
  readonly page: Page;
  /** See walk.ts. */
  readonly resumes: boolean;
};

const MAX_SIZE = 1_000;
/** parseFilter checks the length of each value. */
const VALUES = { mostCharacters: Number.POSITIVE_INFINITY };
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const moment = (query: Query, name: 'since' | 'until'): number | null => {
  const text = parameter(query, name);
  return text ? parseMoment(name, text) : null;
};

const cursor = (query: Query): string | null => {
  const after = parameter(query, 'after');
  if (!after) return after ?? null;
  if (!UUID.test(after)) {
    throw new Refused('unprocessable', [{ detail: 'After is not the id of an entry', parameter: 'after' }]);
  }
  return after.toLowerCase();
};

export const questionOf = (query: Query, organization: string, now: Date): Question => ({
  organization,
  since: moment(query, 'since'),
  until: moment(query, 'until'),
  filter: parseFilter((name) => ([query[name]].flat().at(-1) ? listOf(query, name, VALUES) : undefined)),
  after: cursor(query),
  now,
});

// Splunk's app says `page`.
const numberIn = (query: Query): string | undefined => parameter(query, 'page[number]') ?? parameter(query, 'page');

/** Whether somebody has pages in mind, well put or not. */
export const namesPages = (query: Query): boolean =>
  ['page', 'page[number]', 'page[size]'].some((name) => query[name] !== undefined);

export const pageQuestionOf = (query: Query, question: Question): PageQuestion => {
  const number = numberIn(query);
  const page = pageOf({ ...query, 'page[number]': number }, MAX_SIZE, MAX_SIZE);
  // Whoever counts on after a cursor would get the same entries again.
  if (question.after !== null && page.number > 1)
    throw badRequest('after and a page number exclude each other', 'after');
  return { ...question, page, resumes: question.since !== null && number !== undefined };
};
