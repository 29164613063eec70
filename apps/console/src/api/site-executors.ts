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

const STATUSES = {
  running: ['planning', 'applying'],
  waiting: ['plan_queued', 'apply_queued'],
} as const;

const readSiteRuns = async (
  statuses: readonly (typeof STATUSES)[keyof typeof STATUSES][number][],
  signal: AbortSignal,
) => {
  const query = {
    'filter[status]': [...statuses],
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
  return { runs, total: page.meta.pagination['total-count'] };
};

/** What executors work on in all organizations, and what waits for them: the newest runs, with the number of all. */
export const siteWorkQuery = queryOptions({
  queryKey: ['site-work'],
  queryFn: async ({ signal }) => {
    const [running, waiting] = await Promise.all([
      readSiteRuns(STATUSES.running, signal),
      readSiteRuns(STATUSES.waiting, signal),
    ]);
    return { running, waiting };
  },
  refetchInterval: ({ state }) => (state.status === 'error' ? false : REFRESH_MS),
});
