import { useQueries, type UseQueryResult } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData } from './api-error.js';
import { api } from './client.js';

type ShownUser = ApiResource<'User'>;

const joinUserNames = (results: readonly UseQueryResult<ShownUser>[]): ReadonlyMap<string, string> =>
  new Map(results.flatMap(({ data }) => (data ? [[data.id, data.attributes.username] as const] : [])));

/** Returns the names of the users with these ids, as far as they are loaded. */
export const useUserNames = (ids: readonly string[]): ReadonlyMap<string, string> =>
  useQueries({
    queries: ids.map((id) => ({
      queryKey: ['users', id],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        readData(api.GET('/api/v2/users/{id}', { params: { path: { id } }, signal })),
    })),
    combine: joinUserNames,
  });
