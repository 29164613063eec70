import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readDocument } from './api-error.js';
import { api } from './client.js';

export type AccountChange = ApiResource<'AccountChange'>;

/** The last changes of an account that its person must notice, the newest first. */
export const accountChangesQuery = (user: string) =>
  queryOptions({
    queryKey: ['account-changes', user],
    queryFn: async ({ signal }): Promise<readonly AccountChange[]> => {
      const params = { path: { id: user } };
      return (await readDocument(api.GET('/api/v2/users/{id}/account-changes', { params, signal }))).data;
    },
  });
