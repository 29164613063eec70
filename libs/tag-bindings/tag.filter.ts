import { badRequest } from '#kernel';
import { getParameter, type QueryParameters } from '#json-api';

/** A tag that must exist. If `value` is null, any value matches. */
export type TagFilterTerm = { readonly key: string; readonly value: string | null };

/** A resource has at most ten bindings of its own (clients.md §3). */
const MAX_TAGS_IN_FILTER = 10;
const MAX_VALUE_LENGTH = 256;

const MEMBER = /^filter\[tagged\]\[(\d+)\]\[(?:key|value)\]$/;

/**
 * Returns the tags of `filter[tagged][i][key]` with its `[value]`, at any index. An empty or missing value means any
 * value. Throws `bad-request` for a value without a key, and for more than ten tags.
 */
export const parseTagFilter = (query: QueryParameters): readonly TagFilterTerm[] => {
  const indexes = new Set(Object.keys(query).flatMap((name) => MEMBER.exec(name)?.[1] ?? []));
  if (indexes.size > MAX_TAGS_IN_FILTER) {
    throw badRequest(
      `filter[tagged]: must have at most ${MAX_TAGS_IN_FILTER} tags, got ${indexes.size}`,
      'filter[tagged]',
    );
  }
  return [...indexes].flatMap((index) => {
    const keyName = `filter[tagged][${index}][key]`;
    const key = getParameter(query, keyName);
    const value = getParameter(query, `filter[tagged][${index}][value]`, MAX_VALUE_LENGTH) || null;
    if (!key && value !== null) throw badRequest(`${keyName} is required beside a value`, keyName);
    return key ? [{ key, value }] : [];
  });
};
