import type { RequestResource } from '#packages/client';
import { POOL_TYPE, POOLS, poolsKey, type AgentPool } from './agent-pools.js';
import { readData, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { useChange } from './use-change.js';

type PoolAttributes = RequestResource<'createAgentPool'>['attributes'];

export const useCreateAgentPool = (organization: string) =>
  useChange({
    mutationFn: (attributes: PoolAttributes) =>
      readData(
        api.POST(POOLS, { params: { path: { organization } }, body: { data: { type: POOL_TYPE, attributes } } }),
      ),
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
