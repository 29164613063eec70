import { badRequest } from '#kernel';
import { parameter, type Query } from '#json-api';

/** A tag that must be there; where `value` is null any will do. */
export type Tagged = { readonly key: string; readonly value: string | null };

/**
 * `filter[tagged][i][key]` with its `[value]`, at any index; an empty or missing value means any. A value without a key
 * says nothing that could be looked for: who sent it must not take everything for what they asked for.
 */
export const taggedIn = (query: Query): readonly Tagged[] =>
  Object.keys(query).flatMap((name) => {
    const [, index, member] = /^filter\[tagged\]\[(\d+)\]\[(key|value)\]$/.exec(name) ?? [];
    if (index === undefined) return [];
    const keyName = `filter[tagged][${index}][key]`;
    const key = parameter(query, keyName);
    const value = parameter(query, `filter[tagged][${index}][value]`) || null;
    if (!key && value !== null) throw badRequest(`${keyName} is required beside a value`, keyName);
    return key && member === 'key' ? [{ key, value }] : [];
  });
