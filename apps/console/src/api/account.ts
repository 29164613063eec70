import { queryOptions } from '@tanstack/react-query';
import { readDocument } from './api-error.js';
import { api } from './client.js';

/** The signed-in person. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: async ({ signal }) => (await readDocument(api.GET('/api/v2/account/details', { signal }))).data,
  staleTime: Number.POSITIVE_INFINITY,
});
