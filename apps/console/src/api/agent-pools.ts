import { queryOptions } from '@tanstack/react-query';
import type { ApiResource, RequestResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { pagedQuery } from './pages.js';
import { useChange } from './use-change.js';

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

const TYPE = 'agent-pools';
const POOLS = '/api/v2/organizations/{organization}/agent-pools';

const poolsKey = (organization: string) => [...organizationKey(organization), TYPE] as const;

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

type PoolAttributes = RequestResource<'createAgentPool'>['attributes'];

export const useCreateAgentPool = (organization: string) =>
  useChange({
    mutationFn: (attributes: PoolAttributes) =>
      readData(api.POST(POOLS, { params: { path: { organization } }, body: { data: { type: TYPE, attributes } } })),
    rereads: poolsKey(organization),
  });

/** The lists of workspaces and projects that may use a pool, or may not. */
type PoolList = 'allowed-workspaces' | 'allowed-projects' | 'excluded-workspaces';

type PoolSettings = {
  readonly name: string;
  readonly 'organization-scoped': boolean;
  readonly 'remote-runs-enabled': boolean;
} & { readonly [L in PoolList]: readonly string[] };

export const toPoolSettings = ({ attributes, relationships }: AgentPool): PoolSettings => {
  const listIds = (list: PoolList): readonly string[] => relationships[list].data.map(({ id }) => id);
  return {
    name: attributes.name,
    'organization-scoped': attributes['organization-scoped'],
    'remote-runs-enabled': attributes['remote-runs-enabled'],
    'allowed-workspaces': listIds('allowed-workspaces'),
    'allowed-projects': listIds('allowed-projects'),
    'excluded-workspaces': listIds('excluded-workspaces'),
  };
};

const toLink = <T extends string>(type: T, ids: readonly string[] | undefined) =>
  ids && { data: ids.map((id) => ({ type, id })) };

const dropAbsent = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/** Changes some settings of a pool. If remote runs are switched on, the server revokes the tokens of the pool. */
export const useChangeAgentPool = (organization: string, id: string) =>
  useChange({
    mutationFn: (settings: Partial<PoolSettings>) => {
      const attributes = dropAbsent({
        name: settings.name,
        'organization-scoped': settings['organization-scoped'],
        'remote-runs-enabled': settings['remote-runs-enabled'],
      });
      const relationships = dropAbsent({
        'allowed-workspaces': toLink('workspaces', settings['allowed-workspaces']),
        'allowed-projects': toLink('projects', settings['allowed-projects']),
        'excluded-workspaces': toLink('workspaces', settings['excluded-workspaces']),
      });
      const body = { data: { type: 'agent-pools' as const, attributes, relationships } };
      return readData(api.PATCH('/api/v2/agent-pools/{id}', { params: { path: { id } }, body }));
    },
    rereads: organizationKey(organization),
  });

/** Deletes a pool. Its own screen is not read again, because it is left. */
export const useDeleteAgentPool = (organization: string, id: string) =>
  useChange({
    mutationFn: () => requireSuccess(api.DELETE('/api/v2/agent-pools/{id}', { params: { path: { id } } })),
    rereads: [...poolsKey(organization), 'list'],
  });

/** Removes an agent that no longer runs from the list. */
export const useRemoveAgent = (organization: string) =>
  useChange({
    mutationFn: (id: string) => requireSuccess(api.DELETE('/api/v2/agents/{id}', { params: { path: { id } } })),
    rereads: poolsKey(organization),
  });
