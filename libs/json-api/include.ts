import { badRequest } from '#kernel';
import { getListParameter, type QueryParameters } from './paging.js';

/**
 * The values of `include`, comma-joined, written with `_` or `-`; null where the parameter is missing. A value that the
 * endpoint does not know is a 400 whose text clients look for (clients.md §2).
 */
export const parseInclude = <T extends string>(query: QueryParameters, known: readonly T[]): ReadonlySet<T> | null => {
  if (query['include'] === undefined) return null;
  const values = getListParameter(query, 'include').map((value) => value.replaceAll('-', '_'));
  const unknown = values.find((value) => !(known as readonly string[]).includes(value));
  if (unknown !== undefined) {
    throw badRequest(`Invalid include parameter: ${unknown} is not one of ${known.join(', ')}`, 'include');
  }
  return new Set(values as T[]);
};
