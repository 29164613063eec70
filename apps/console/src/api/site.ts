import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData } from './api-error.js';
import { api } from './client.js';

export type SiteStatus = ApiResource<'SiteStatus'>['attributes'];

const REFRESH_MS = 10_000;

/** Versions, settings, processes, followers and storage. It is read again while the tab is in front. */
export const siteStatusQuery = queryOptions({
  queryKey: ['site'],
  queryFn: async ({ signal }) => (await readData(api.GET('/api/v2/admin/site-status', { signal }))).attributes,
  refetchInterval: ({ state }) => (state.status === 'error' ? false : REFRESH_MS),
});
