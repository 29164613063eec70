import { badRequest } from '#platform/kernel';
import { getListParameter, getParameter, type QueryParameters } from '#api/json-api';

/** A tag that must exist. If `key` or `value` is null, any key or value matches. At most one of them is null. */
export type TagFilterTerm =
  { readonly key: string; readonly value: string | null } | { readonly key: null; readonly value: string };

/** The query parameters of `parseTagFilter`. */
export const TAG_FILTERS = ['filter[tagged]', 'filter[tagged][0][key]', 'filter[tagged][0][value]'];

/** A resource has at most ten bindings of its own. */
const MAX_TAGS_IN_FILTER = 10;
const MAX_VALUE_LENGTH = 256;

const KEYS = 'filter[tagged]';

const MEMBER = /^filter\[tagged\]\[(\d+)\]\[(?:key|value)\]$/;

/**
 * Returns a term for each index of `filter[tagged][i][key]` and `[value]`, and for each key in the list `filter[tagged]`. An
 * empty or missing key or value matches any. Throws `bad-request` for more than ten terms.
 */
export const parseTagFilter = (query: QueryParameters): readonly TagFilterTerm[] => {
  const indexes = new Set(Object.keys(query).flatMap((name) => MEMBER.exec(name)?.[1] ?? []));
  const keys = getListParameter(query, KEYS);
  const count = indexes.size + keys.length;
  if (count > MAX_TAGS_IN_FILTER) {
    throw badRequest(`${KEYS}: must have at most ${MAX_TAGS_IN_FILTER} tags, got ${count}`, KEYS);
  }
  const terms = [...indexes].flatMap((index): readonly TagFilterTerm[] => {
    const key = getParameter(query, `filter[tagged][${index}][key]`) || null;
    const value = getParameter(query, `filter[tagged][${index}][value]`, MAX_VALUE_LENGTH) || null;
    if (key !== null) return [{ key, value }];
    return value === null ? [] : [{ key, value }];
  });
  return [...keys.map((key) => ({ key, value: null })), ...terms];
};
