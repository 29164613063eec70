import { badRequest, formatTimestamp, parseTimestamp, sql, type Sql, type Timestamp } from '#platform/kernel';
import { deduplicateResources, type Document, type Resource } from './document.js';

export type QueryParameters = Readonly<Record<string, string | string[] | undefined>>;

export type PageRequest = { readonly number: number; readonly size: number };

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

/** A client sends a parameter once, or twice by mistake. */
const MAX_REPEATS = 10;
/** The limit is longer than every name that a search can match. */
export const MAX_PARAMETER_CHARACTERS = 255;
export const MAX_PARAMETER_VALUES = 100;

/**
 * Throws 400 if there are too many. Each value costs the database work, so the number of values is limited as well as
 * their length.
 */
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

/** Returns the value of a query parameter, the last one if it is repeated. Throws 400 for a longer value. */
export const getParameter = (
  query: QueryParameters,
  name: string,
  mostCharacters = MAX_PARAMETER_CHARACTERS,
): string | undefined => {
  const value = lastValue(query, name);
  refuseMoreThan(mostCharacters, value?.length ?? 0, name, 'characters');
  return value;
};

type ListLimits = { readonly mostValues?: number; readonly mostCharacters?: number };

/** Returns the comma-separated values of a query parameter. Throws 400 for too many values or a longer value. */
export const getListParameter = (
  query: QueryParameters,
  name: string,
  { mostValues = MAX_PARAMETER_VALUES, mostCharacters = MAX_PARAMETER_CHARACTERS }: ListLimits = {},
): string[] => {
  const values = (lastValue(query, name) ?? '')
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
  refuseMoreThan(mostValues, values.length, name, 'values');
  for (const value of values) refuseMoreThan(mostCharacters, value.length, name, 'characters in a value');
  return values;
};

/** Returns the value of a required query parameter. Throws 400 if it is missing. */
export const requireParameter = (query: QueryParameters, name: string): string => {
  const value = getParameter(query, name);
  if (!value) throw badRequest(`${name} is required`, name);
  return value;
};

/** Returns the timestamp in a query parameter, or null without it. Throws 400 for an invalid one. */
export const parseTimeParameter = (query: QueryParameters, name: string): Timestamp | null => {
  const text = getParameter(query, name);
  if (!text) return null;
  const milliseconds = parseTimestamp(text);
  if (milliseconds === undefined) {
    throw badRequest(`${name} is not a valid ISO 8601 timestamp, such as 2026-01-31T12:30:15.123Z`, name);
  }
  return formatTimestamp(milliseconds);
};

export type SortOrder<Sort extends string> = { readonly sort: Sort; readonly descending: boolean };

/** Returns the order that `sort` requests, by default the first of `sorts`. A leading `-` reverses the order. */
export const parseSort = <Sort extends string>(
  query: QueryParameters,
  sorts: readonly [Sort, ...Sort[]],
): SortOrder<Sort> => {
  const text = getParameter(query, 'sort') || sorts[0];
  const descending = text.startsWith('-');
  const sort = sorts.find((candidate) => candidate === (descending ? text.slice(1) : text));
  if (!sort) throw badRequest(`sort must be one of ${sorts.join(', ')}, with or without a leading -`, 'sort');
  return { sort, descending };
};

const parseWholeNumber = (query: QueryParameters, name: string): number | undefined => {
  const text = getParameter(query, name);
  if (text === undefined || text === '') return undefined;
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < 1) throw badRequest(`${name} must be a whole number of 1 or more`, name);
  return value;
};

/** Parses `page[number]` and `page[size]`. A size above the maximum is cut to it. */
export const parsePage = (
  query: QueryParameters,
  defaultSize = DEFAULT_PAGE_SIZE,
  maxSize = MAX_PAGE_SIZE,
): PageRequest => ({
  number: parseWholeNumber(query, 'page[number]') ?? 1,
  size: Math.min(parseWholeNumber(query, 'page[size]') ?? defaultSize, maxSize),
});

/** Postgres reads and drops all rows before a page. For this number of rows that takes a millisecond. */
const MAX_ROWS_NEAR = 5_000;

export const isNearStart = ({ number, size }: PageRequest): boolean => number * size <= MAX_ROWS_NEAR;

/** Like `buildLimit`, for a page size that the statement computes as an SQL expression. */
export const buildLimitWithSize = ({ number }: PageRequest, size: Sql): Sql =>
  sql`limit ${size} offset ${number - 1}::bigint * ${size}`;

export const buildLimit = ({ number, size }: PageRequest): Sql => sql`limit ${size} offset ${(number - 1) * size}`;

/** Returns the items of a page, for a list that is small enough to be read completely. */
export const slicePage = <T>(items: readonly T[], { number, size }: PageRequest): readonly T[] =>
  items.slice((number - 1) * size, number * size);

/** The rows of one page, and the number of rows on all pages. */
export type ListPage<Row> = { readonly rows: readonly Row[]; readonly total: number };

/**
 * A row of a list statement of the form `owner left join lateral (a page of its items) on true`. For an empty page the
 * statement returns one row with the owner only.
 */
export type ListRow<Row extends { readonly id: string }, OwnerColumns> = OwnerColumns & (Row | { readonly id: null });

const isListed = <Row extends { readonly id: string | null }>(row: Row): row is Exclude<Row, { readonly id: null }> =>
  row.id !== null;

/** Converts the rows of a list statement, with the count of all items in each row. */
export const toListPage = <Row extends { readonly id: string | null; readonly total: number }>(
  rows: readonly Row[],
): ListPage<Exclude<Row, { readonly id: null }>> => ({
  rows: rows.filter(isListed),
  total: rows[0]?.total ?? 0,
});

/**
 * Renders a page of a list with links and counts. `publicUrl` is the whole URL of the request: programs follow the links
 * without knowing the site.
 */
export const renderPage = (
  data: readonly Resource[],
  page: PageRequest,
  totalCount: number,
  publicUrl: string,
  included?: readonly Resource[],
): Document => {
  const totalPages = Math.ceil(totalCount / page.size);
  const previous = page.number > 1 && page.number <= totalPages + 1 ? page.number - 1 : null;
  const next = page.number < totalPages ? page.number + 1 : null;
  const link = createPageLinks(publicUrl, page.size);
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

type ListRequest = { readonly query: unknown; readonly publicUrl: string };

/** Renders the page that a request asks for. `list` reads the page, `render` renders one row. */
export const renderList = async <Row>(
  { query, publicUrl }: ListRequest,
  list: (page: PageRequest) => Promise<ListPage<Row>>,
  render: (row: Row) => Resource,
): Promise<Document> => {
  const page = parsePage(query as QueryParameters);
  const { rows, total } = await list(page);
  return renderPage(
    rows.map((row) => render(row)),
    page,
    total,
    publicUrl,
  );
};

const createPageLinks = (publicUrl: string, size: number): ((number: number) => string) => {
  const [path = '', ...rest] = publicUrl.split('?');
  // A query string may contain question marks (RFC 3986, 3.4).
  const search = rest.join('?');
  const otherParameters = search
    .split('&')
    .filter((pair) => pair !== '' && !/^page(?:\[|%5B)(?:number|size)(?:\]|%5D)=/i.test(pair))
    .map((pair) => `${pair}&`)
    .join('');
  return (number) => `${path}?${otherParameters}page%5Bnumber%5D=${number}&page%5Bsize%5D=${size}`;
};
