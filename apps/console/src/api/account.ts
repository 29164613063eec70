import { queryOptions } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readData, readDocument } from './api-error.js';
import { api } from './client.js';
import { useChange } from './use-change.js';

export type Account = ApiResource<'User'>;

const ACCOUNT_KEY = ['account'] as const;

/** The signed-in person. */
export const accountQuery = queryOptions({
  queryKey: ACCOUNT_KEY,
  queryFn: ({ signal }) => readData(api.GET('/api/v2/account/details', { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

export const useChangeAccount = () =>
  useChange({
    mutationFn: (attributes: RequestResource<'updateAccountDetails'>['attributes']) => {
      const body = { data: { type: 'users' as const, attributes } };
      return readDocument(api.PATCH('/api/v2/account/details', { body }));
    },
    rereads: ACCOUNT_KEY,
  });
