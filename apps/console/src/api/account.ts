import { queryOptions } from '@tanstack/react-query';
import { readData } from './api-error.js';
import { api } from './client.js';

/** The signed-in person. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => readData(api.GET('/api/v2/account/details', { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});
