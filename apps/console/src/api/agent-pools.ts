import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData, readDocument } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';

export type AgentPool = ApiResource<'AgentPool'>;
export type PoolAgent = ApiResource<'Agent'>;

/** The plan or the apply of a run that an executor works on. */
export type ExecutorWork = ApiResource<'RunLease'>;

export const nameAgent = ({ id, attributes }: PoolAgent): string => attributes.name ?? id;

const SUGGESTIONS = 50;
/** Pings of agents are no events, so the live stream has no messages about them. */
const REFRESH_MS = 10_000;

/** The largest page of the API. */
const MAX_LEASES = 100;

export const POOL_TYPE = 'agent-pools';
export const POOLS = '/api/v2/organizations/{organization}/agent-pools';

export const poolsKey = (organization: string) => [...organizationKey(organization), POOL_TYPE] as const;

/** The pools of an organization, page by page. */
export const agentPoolsQuery = (organization: string) =>
  pagedQuery([...poolsKey(organization), 'list'], (page, signal) =>
    readDocument(api.GET(POOLS, { params: { path: { organization }, query: page }, signal })),
  );

/** Pools with this text in their name, for suggestions. */
export const poolSuggestionsQuery = (organization: string, name: string) =>
  queryOptions({
    queryKey: [...poolsKey(organization), 'suggestions', name],
    queryFn: ({ signal }) => {
      const query = { 'page[size]': SUGGESTIONS, ...(name === '' ? {} : { q: name }) };
      return readData(api.GET(POOLS, { params: { path: { organization }, query }, signal }));
    },
  });

export const agentPoolQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...poolsKey(organization), 'one', id],
    queryFn: ({ signal }) => readData(api.GET('/api/v2/agent-pools/{id}', { params: { path: { id } }, signal })),
  });

/** The agents of a pool with their last pings, page by page. */
export const agentsQuery = (organization: string, id: string) =>
  pagedQuery(
    [...poolsKey(organization), 'agents', id],
    (page, signal) => {
      const params = { path: { pool: id }, query: page };
      return readDocument(api.GET('/api/v2/agent-pools/{pool}/agents', { params, signal }));
    },
    { refetchInterval: REFRESH_MS },
  );

/** What the executors of a pool work on, as far as the person may read it. */
export const poolLeasesQuery = (organization: string, id: string) =>
  queryOptions({
    queryKey: [...poolsKey(organization), 'leases', id],
    queryFn: ({ signal }) => {
      const params = { path: { pool: id }, query: { 'page[size]': MAX_LEASES } };
      return readData(api.GET('/api/v2/agent-pools/{pool}/run-leases', { params, signal }));
    },
    refetchInterval: ({ state }) => (state.status === 'error' ? false : REFRESH_MS),
  });
