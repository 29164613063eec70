import { badRequest } from '#kernel';
import { parameter, type Query } from '#json-api';

/** A tag that must be there; where `value` is null any will do. */
export type Tagged = { readonly key: string; readonly value: string | null };

/** A resource has at most ten bindings of its own (clients.md §3). */
const MOST_TAGS = 10;
const MOST_CHARACTERS_OF_VALUE = 256;

const MEMBER = /^filter\[tagged\]\[(\d+)\]\[(?:key|value)\]$/;

/**
 * Returns the tags of `filter[tagged][i][key]` with its `[value]`, at any index; an empty or missing value means any
 * value. A value without a key, and more than ten tags, are a 400.
 */
export const taggedIn = (query: Query): readonly Tagged[] => {
  const indexes = new Set(Object.keys(query).flatMap((name) => MEMBER.exec(name)?.[1] ?? []));
  if (indexes.size > MOST_TAGS) {
    throw badRequest(`filter[tagged]: must have at most ${MOST_TAGS} tags, got ${indexes.size}`, 'filter[tagged]');
  }
  return [...indexes].flatMap((index) => {
    const keyName = `filter[tagged][${index}][key]`;
    const key = parameter(query, keyName);
    const value = parameter(query, `filter[tagged][${index}][value]`, MOST_CHARACTERS_OF_VALUE) || null;
    if (!key && value !== null) throw badRequest(`${keyName} is required beside a value`, keyName);
    return key ? [{ key, value }] : [];
  });
};
