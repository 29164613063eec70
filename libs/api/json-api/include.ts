import { badRequest } from '#platform/kernel';
import { getListParameter, type QueryParameters } from './paging.js';

/**
 * Returns the comma-separated values of `include`, which clients write with `_` or `-`; null if the parameter is
 * missing. An unknown value is a 400 whose text clients search for.
 */
export const parseInclude = <T extends string>(
  query: QueryParameters,
  accepted: readonly T[],
): ReadonlySet<T> | null => {
  if (query['include'] === undefined) return null;
  const values = getListParameter(query, 'include').map((value) => value.replaceAll('-', '_'));
  const unknown = values.find((value) => !(accepted as readonly string[]).includes(value));
  if (unknown !== undefined) {
    throw badRequest(`Invalid include parameter: ${unknown} is not one of ${accepted.join(', ')}`, 'include');
  }
  return new Set(values as T[]);
};
