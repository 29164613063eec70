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

const listRoots = (text: string): ReadonlySet<string> =>
  new Set(
    text
      .slice(0, 1_000)
      .split(',')
      .map((path) => path.trim().replace(/^.*:/, '').replace(/\..*$/, '').toLowerCase())
      .filter((root) => root !== ''),
  );

/** Returns the resource with the attributes that the request names, or without those that it excludes. */
export const pickAttributes = (resource: ScimResource, query: ScimParameters): ScimResource => {
  const [only, without] = [readText(query, 'attributes'), readText(query, 'excludedAttributes')];
  if (!only && !without) return resource;
  const roots = listRoots(only ?? without ?? '');
  const isShown = (name: string): boolean => ALWAYS.has(name) || roots.has(name.toLowerCase()) === Boolean(only);
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isShown(name)));
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
