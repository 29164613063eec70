import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { findIncluded } from './included.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

/**
 * Stands for the organization in the keys of pools that belong to the site, so that the parts of the screen of a pool serve
 * both. No organization has this name.
 */
export const SITE_POOLS = '~site';

const POOLS = '/api/v2/admin/agent-pools';
const POOLS_KEY = [...organizationKey(SITE_POOLS), 'agent-pools'] as const;
const REFRESH_MS = 10_000;
const RUNS_IN_PAGE = 100;

/** The pools whose agents execute runs of all organizations. */
export const sitePoolsQuery = () =>
  pagedQuery([...POOLS_KEY, 'list'], (query, signal) => readDocument(api.GET(POOLS, { params: { query }, signal })), {
    refetchInterval: REFRESH_MS,
  });

export const useCreateSitePool = () =>
  useChange({
    mutationFn: (name: string) =>
      readData(api.POST(POOLS, { body: { data: { type: 'agent-pools', attributes: { name } } } })),
    rereads: POOLS_KEY,
  });

/** Deletes a pool with its tokens. Its own screen is not read again, because it is left. */
export const useDeleteSitePool = () =>
  useChange({
    mutationFn: (id: string) => requireSuccess(api.DELETE('/api/v2/agent-pools/{id}', { params: { path: { id } } })),
    rereads: [...POOLS_KEY, 'list'],
  });

/** A run of any organization that an executor works on, or that waits for one. */
export type SiteRun = {
  readonly id: string;
  readonly attributes: ApiResource<'Run'>['attributes'];
  readonly workspace: string;
  readonly organization: string;
};

/** How many runs wait for an executor, and on how many one works, by organization. */
export type SiteWork = Awaited<ReturnType<typeof readRunningRuns>>['work'];

const readRunningRuns = async (signal: AbortSignal) => {
  const query = {
    'filter[status]': ['planning' as const, 'applying' as const],
    include: ['workspace' as const],
    'page[size]': RUNS_IN_PAGE,
  };
  const page = await readDocument(api.GET('/api/v2/admin/runs', { params: { query }, signal }));
  const runs = page.data.map(({ id, attributes, relationships }): SiteRun => {
    const workspace = findIncluded(page, relationships.workspace.data);
    return {
      id,
      attributes,
      workspace: workspace?.attributes.name ?? '',
      organization: workspace?.relationships.organization.data.id ?? '',
    };
  });
  return { runs, work: page.meta['executor-work'] };
};

/** The newest runs on which executors work, and the numbers of running and waiting runs of all organizations. */
export const siteWorkQuery = queryOptions({
  queryKey: ['site-work'],
  queryFn: ({ signal }) => readRunningRuns(signal),
  refetchInterval: ({ state }) => (state.status === 'error' ? false : REFRESH_MS),
});
