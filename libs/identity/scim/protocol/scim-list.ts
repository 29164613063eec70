import { ScimRefusal } from './scim-refusal.js';
import { LIST_SCHEMA, MAX_PAGE } from './scim-schemas.js';

export type ScimParameters = Readonly<Record<string, unknown>>;

/** `startIndex` counts from 1. */
export type ScimPage = { readonly startIndex: number; readonly count: number };

const readText = (query: ScimParameters, name: string): string | undefined => {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new ScimRefusal('invalidValue', `${name}: must be stated once`);
};

const readNumber = (query: ScimParameters, name: string, otherwise: number): number => {
  const text = readText(query, name);
  if (text === undefined || text === '') return otherwise;
  if (!/^-?\d{1,9}$/.test(text)) {
    throw new ScimRefusal('invalidValue', `${name}: must be a whole number, got ${JSON.stringify(text.slice(0, 20))}`);
  }
  return Number(text);
};

/** Returns the page. Numbers outside the range count as the nearest ones (RFC 7644 §3.4.2.4). */
export const parseScimPage = (query: ScimParameters): ScimPage => ({
  startIndex: Math.max(1, readNumber(query, 'startIndex', 1)),
  count: Math.min(MAX_PAGE, Math.max(0, readNumber(query, 'count', MAX_PAGE))),
});

export const getFilterText = (query: ScimParameters): string | undefined => readText(query, 'filter') || undefined;

export type ScimResource = Readonly<Record<string, unknown>>;

const ALWAYS = new Set(['id', 'schemas']);

/** Returns the names of the attributes in a list of paths, such as `emails.value`. */
const listRoots = (text: string): ReadonlySet<string> =>
  new Set(
    text.split(',').map((path) =>
      path
        .trim()
        .replace(/^urn:.*:/, '')
        .replace(/\..*$/, '')
        .toLowerCase(),
    ),
  );

/** Returns a function: whether the response contains the attribute (RFC 7644 §3.9). */
export const parseAttributes = (query: ScimParameters): ((name: string) => boolean) => {
  const [only, without] = [readText(query, 'attributes'), readText(query, 'excludedAttributes')];
  const names = listRoots(only || without || '');
  return (name) => ALWAYS.has(name) || (!only && !without) || names.has(name.toLowerCase()) === Boolean(only);
};

/** Returns the resource with the attributes that the request wants. */
export const pickAttributes = (resource: ScimResource, query: ScimParameters): ScimResource => {
  const hasAttribute = parseAttributes(query);
  return Object.fromEntries(Object.entries(resource).filter(([name]) => hasAttribute(name)));
};

export const renderScimList = (
  resources: readonly ScimResource[],
  totalResults: number,
  startIndex = 1,
): ScimResource => ({
  schemas: [LIST_SCHEMA],
  totalResults,
  startIndex,
  itemsPerPage: resources.length,
  Resources: resources,
});
