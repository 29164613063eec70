import { badRequest, sql, type Sql } from '#kernel';
import { withoutDoubles, type Document, type Resource } from './document.js';

export type Query = Readonly<Record<string, string | string[] | undefined>>;

export type Page = { readonly number: number; readonly size: number };

const DEFAULT_SIZE = 20;
const MAX_SIZE = 100;

/** A client sends a parameter once, or twice by mistake. */
const MOST_REPEATS = 10;
/** Every name that a search can match is shorter. */
const MOST_CHARACTERS = 255;
const MOST_VALUES = 100;

/** Each value costs the database work, so that a list of values is as limited as its length. */
const refuseMoreThan = (most: number, count: number, name: string, what: string): void => {
  if (count > most) throw badRequest(`${name}: must have at most ${most} ${what}, got ${count}`, name);
};

const lastValue = (query: Query, name: string): string | undefined => {
  const value = query[name];
  if (!Array.isArray(value)) return value;
  if (value.length > MOST_REPEATS) {
    throw badRequest(`${name}: must be sent at most ${MOST_REPEATS} times, got ${value.length}`, name);
  }
  return value.at(-1);
};

/** Returns the value of a query parameter, the last one if it is repeated. A longer value is a 400. */
export const parameter = (query: Query, name: string, mostCharacters = MOST_CHARACTERS): string | undefined => {
  const value = lastValue(query, name);
  refuseMoreThan(mostCharacters, value?.length ?? 0, name, 'characters');
  return value;
};

export type ListLimits = { readonly mostValues?: number; readonly mostCharacters?: number };

/** Returns the comma-joined values of a query parameter. More of them, or a longer one, is a 400. */
export const listOf = (
  query: Query,
  name: string,
  { mostValues = MOST_VALUES, mostCharacters = MOST_CHARACTERS }: ListLimits = {},
): string[] => {
  const values = (lastValue(query, name) ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
  refuseMoreThan(mostValues, values.length, name, 'values');
  for (const value of values) refuseMoreThan(mostCharacters, value.length, name, 'characters in a value');
  return values;
};

/** A query parameter that the list cannot be asked for without. */
export const required = (query: Query, name: string): string => {
  const value = parameter(query, name);
  if (!value) throw badRequest(`${name} is required`, name);
  return value;
};

export type Order<Sort extends string> = { readonly sort: Sort; readonly descending: boolean };

/** `sort`, the first of these where nothing is said; a leading `-` turns it round. */
export const orderOf = <Sort extends string>(query: Query, sorts: readonly [Sort, ...Sort[]]): Order<Sort> => {
  const text = parameter(query, 'sort') || sorts[0];
  const descending = text.startsWith('-');
  const sort = sorts.find((known) => known === (descending ? text.slice(1) : text));
  if (!sort) throw badRequest(`sort must be one of ${sorts.join(', ')}, with or without a leading -`, 'sort');
  return { sort, descending };
};

const wholeNumber = (query: Query, name: string): number | undefined => {
  const text = parameter(query, name);
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < 1) throw badRequest(`${name} must be a whole number of 1 or more`, name);
  return value;
};

/** `page[number]` and `page[size]`; sizes above the maximum are cut to it (clients.md §2). */
export const pageOf = (query: Query, defaultSize = DEFAULT_SIZE, maxSize = MAX_SIZE): Page => ({
  number: wholeNumber(query, 'page[number]') ?? 1,
  size: Math.min(wholeNumber(query, 'page[size]') ?? defaultSize, maxSize),
});

/** Postgres reads and drops all rows before a page. So many take a millisecond. */
const MOST_ROWS_NEAR = 5_000;

export const isNearStart = ({ number, size }: Page): boolean => number * size <= MOST_ROWS_NEAR;

/** Like `limitOf`, for a page size that the statement computes: an SQL expression. */
export const limitBy = ({ number }: Page, size: Sql): Sql => sql`limit ${size} offset ${number - 1}::bigint * ${size}`;

export const limitOf = ({ number, size }: Page): Sql => sql`limit ${size} offset ${(number - 1) * size}`;

/** What a page shows of a list that is small enough to be read whole. */
export const shownOf = <T>(items: readonly T[], { number, size }: Page): readonly T[] =>
  items.slice((number - 1) * size, number * size);

/** A page of a list, and how many there are on all of its pages. */
export type Listed<Row> = { readonly rows: readonly Row[]; readonly total: number };

/**
 * What the statement of a list has found: `owner left join lateral (a page of what it owns) on true`, the count of all in
 * each row. Where the page is empty there is one row, of the owner alone.
 */
export const listedIn = <Row extends { readonly id: string; readonly total: number }>(
  found: readonly Row[],
): Listed<Row> => ({
  rows: found.filter(({ id }: { readonly id: string | null }) => id !== null),
  total: found[0]?.total ?? 0,
});

/** A page of a list, with the links and counts of contract §2.1. `url` is the path and query as they were asked. */
export const pageDocument = (
  data: readonly Resource[],
  page: Page,
  totalCount: number,
  url: string,
  included?: readonly Resource[],
): Document => {
  const totalPages = Math.ceil(totalCount / page.size);
  const previous = page.number > 1 && page.number <= totalPages + 1 ? page.number - 1 : null;
  const next = page.number < totalPages ? page.number + 1 : null;
  const link = linksFrom(url, page.size);
  return {
    data,
    ...(included ? { included: withoutDoubles(included) } : {}),
    links: {
      self: link(page.number),
      first: link(1),
      prev: previous === null ? null : link(previous),
      next: next === null ? null : link(next),
      last: link(Math.max(totalPages, 1)),
    },
    meta: {
      pagination: {
        'current-page': page.number,
        'page-size': page.size,
        'prev-page': previous,
        'next-page': next,
        'total-pages': totalPages,
        'total-count': totalCount,
      },
    },
  };
};

/** `url` is the path and query as they were sent. */
type ListRequest = { readonly query: unknown; readonly url: string };

/** Returns the document of the page that a request asks for. `list` reads the page, `render` renders one row of it. */
export const listDocument = async <Row>(
  { query, url }: ListRequest,
  list: (page: Page) => Promise<Listed<Row>>,
  render: (row: Row) => Resource,
): Promise<Document> => {
  const page = pageOf(query as Query);
  const { rows, total } = await list(page);
  return pageDocument(
    rows.map((row) => render(row)),
    page,
    total,
    url,
  );
};

const linksFrom = (url: string, size: number): ((number: number) => string) => {
  const [path = '', ...rest] = url.split('?');
  // A question mark in what is asked is as good as any other character (RFC 3986, 3.4).
  const search = rest.join('?');
  const others = search
    .split('&')
    .filter((pair) => pair !== '' && !/^page(?:\[|%5B)(?:number|size)(?:\]|%5D)=/i.test(pair))
    .map((pair) => `${pair}&`)
    .join('');
  return (number) => `${path}?${others}page%5Bnumber%5D=${number}&page%5Bsize%5D=${size}`;
};
