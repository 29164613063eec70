import { badRequest, sql, type Sql } from '#kernel';
import { deduplicateResources, type Document, type Resource } from './document.js';

export type QueryParameters = Readonly<Record<string, string | string[] | undefined>>;

export type PageRequest = { readonly number: number; readonly size: number };

const DEFAULT_SIZE = 20;
const MAX_SIZE = 100;

/** A client sends a parameter once, or twice by mistake. */
const MAX_REPEATS = 10;
/** Every name that a search can match is shorter. */
const MAX_CHARACTERS = 255;
const MAX_VALUES = 100;

/** Each value costs the database work, so that a list of values is as limited as its length. */
const refuseMoreThan = (most: number, count: number, name: string, what: string): void => {
  if (count > most) throw badRequest(`${name}: must have at most ${most} ${what}, got ${count}`, name);
};

const lastValue = (query: QueryParameters, name: string): string | undefined => {
  const value = query[name];
  if (!Array.isArray(value)) return value;
  if (value.length > MAX_REPEATS) {
    throw badRequest(`${name}: must be sent at most ${MAX_REPEATS} times, got ${value.length}`, name);
  }
  return value.at(-1);
};

/** Returns the value of a query parameter, the last one if it is repeated. A longer value is a 400. */
export const getParameter = (
  query: QueryParameters,
  name: string,
  mostCharacters = MAX_CHARACTERS,
): string | undefined => {
  const value = lastValue(query, name);
  refuseMoreThan(mostCharacters, value?.length ?? 0, name, 'characters');
  return value;
};

export type ListLimits = { readonly mostValues?: number; readonly mostCharacters?: number };

/** Returns the comma-joined values of a query parameter. More of them, or a longer one, is a 400. */
export const getListParameter = (
  query: QueryParameters,
  name: string,
  { mostValues = MAX_VALUES, mostCharacters = MAX_CHARACTERS }: ListLimits = {},
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
export const requireParameter = (query: QueryParameters, name: string): string => {
  const value = getParameter(query, name);
  if (!value) throw badRequest(`${name} is required`, name);
  return value;
};

export type SortOrder<Sort extends string> = { readonly sort: Sort; readonly descending: boolean };

/** `sort`, the first of these where nothing is said; a leading `-` turns it round. */
export const parseSort = <Sort extends string>(
  query: QueryParameters,
  sorts: readonly [Sort, ...Sort[]],
): SortOrder<Sort> => {
  const text = getParameter(query, 'sort') || sorts[0];
  const descending = text.startsWith('-');
  const sort = sorts.find((known) => known === (descending ? text.slice(1) : text));
  if (!sort) throw badRequest(`sort must be one of ${sorts.join(', ')}, with or without a leading -`, 'sort');
  return { sort, descending };
};

const wholeNumber = (query: QueryParameters, name: string): number | undefined => {
  const text = getParameter(query, name);
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < 1) throw badRequest(`${name} must be a whole number of 1 or more`, name);
  return value;
};

/** `page[number]` and `page[size]`; sizes above the maximum are cut to it (clients.md §2). */
export const parsePage = (query: QueryParameters, defaultSize = DEFAULT_SIZE, maxSize = MAX_SIZE): PageRequest => ({
  number: wholeNumber(query, 'page[number]') ?? 1,
  size: Math.min(wholeNumber(query, 'page[size]') ?? defaultSize, maxSize),
});

/** Postgres reads and drops all rows before a page. So many take a millisecond. */
const MAX_ROWS_NEAR = 5_000;

export const isNearStart = ({ number, size }: PageRequest): boolean => number * size <= MAX_ROWS_NEAR;

/** Like `limitOf`, for a page size that the statement computes: an SQL expression. */
export const buildLimitWithSize = ({ number }: PageRequest, size: Sql): Sql =>
  sql`limit ${size} offset ${number - 1}::bigint * ${size}`;

export const buildLimit = ({ number, size }: PageRequest): Sql => sql`limit ${size} offset ${(number - 1) * size}`;

/** What a page shows of a list that is small enough to be read whole. */
export const slicePage = <T>(items: readonly T[], { number, size }: PageRequest): readonly T[] =>
  items.slice((number - 1) * size, number * size);

/** A page of a list, and how many there are on all of its pages. */
export type ListPage<Row> = { readonly rows: readonly Row[]; readonly total: number };

/**
 * What the statement of a list has found: `owner left join lateral (a page of what it owns) on true`, the count of all in
 * each row. Where the page is empty there is one row, of the owner alone.
 */
export const toListPage = <Row extends { readonly id: string; readonly total: number }>(
  found: readonly Row[],
): ListPage<Row> => ({
  rows: found.filter(({ id }: { readonly id: string | null }) => id !== null),
  total: found[0]?.total ?? 0,
});

/** A page of a list, with the links and counts of contract §2.1. `url` is the path and query as they were asked. */
export const renderPage = (
  data: readonly Resource[],
  page: PageRequest,
  totalCount: number,
  url: string,
  included?: readonly Resource[],
): Document => {
  const totalPages = Math.ceil(totalCount / page.size);
  const previous = page.number > 1 && page.number <= totalPages + 1 ? page.number - 1 : null;
  const next = page.number < totalPages ? page.number + 1 : null;
  const link = createPageLinks(url, page.size);
  return {
    data,
    ...(included ? { included: deduplicateResources(included) } : {}),
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
export const renderList = async <Row>(
  { query, url }: ListRequest,
  list: (page: PageRequest) => Promise<ListPage<Row>>,
  render: (row: Row) => Resource,
): Promise<Document> => {
  const page = parsePage(query as QueryParameters);
  const { rows, total } = await list(page);
  return renderPage(
    rows.map((row) => render(row)),
    page,
    total,
    url,
  );
};

const createPageLinks = (url: string, size: number): ((number: number) => string) => {
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
