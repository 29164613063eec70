import { queryOptions } from '@tanstack/react-query';
import { readData, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { allowlistKey, LISTS, PAGE_SIZE, RANGES, type AgentList } from './ip-allowlist.js';
import { useChange } from './use-change.js';

export const agentRangesQuery = (organization: string, list: string) =>
  queryOptions({
    queryKey: [...allowlistKey(organization), list],
    queryFn: ({ signal }) => {
      const params = { path: { id: list }, query: { 'page[size]': PAGE_SIZE } };
      return readData(api.GET(RANGES, { params, signal }));
    },
  });

type NewRange = { readonly range: string; readonly description: string };

/** Adds a range. The first range creates the list. */
export const useAddRange = (organization: string) =>
  useChange({
    mutationFn: ({ list, range, description }: NewRange & { readonly list: string | null }) => {
      const data = { type: 'cidr-ranges' as const, attributes: { range, description: description || null } };
      if (list !== null) return requireSuccess(api.POST(RANGES, { params: { path: { id: list } }, body: { data } }));
      const attributes = { name: 'Organization', 'enforcement-scope': 'organization' as const };
      const relationships = { 'cidr-ranges': { data: [data] } };
      const body = { data: { type: 'cidr-range-lists' as const, attributes, relationships } };
      return requireSuccess(api.POST(LISTS, { params: { path: { organization } }, body }));
    },
    rereads: allowlistKey(organization),
  });

export const useSwitchRange = (organization: string) =>
  useChange({
    mutationFn: ({ id, enabled }: { readonly id: string; readonly enabled: boolean }) => {
      const body = { data: { type: 'cidr-ranges' as const, attributes: { enabled } } };
      return requireSuccess(api.PATCH('/api/v2/cidr-ranges/{id}', { params: { path: { id } }, body }));
    },
    rereads: allowlistKey(organization),
  });

export const useRemoveRange = (organization: string) =>
  useChange({
    mutationFn: (id: string) => requireSuccess(api.DELETE('/api/v2/cidr-ranges/{id}', { params: { path: { id } } })),
    rereads: allowlistKey(organization),
  });

const LIST = '/api/v2/cidr-range-lists/{id}';
const POOLS = '/api/v2/cidr-range-lists/{id}/relationships/agent-pools';

/** `pools` counts only if the list is not for all pools. */
type AgentListContent = { readonly name: string; readonly isForAll: boolean; readonly pools: readonly string[] };

const toAttributes = ({ name, isForAll }: AgentListContent) => ({
  name,
  'enforcement-scope': isForAll ? ('all_agent_pools' as const) : ('selected_agent_pools' as const),
});

const toPools = (ids: readonly string[]) => ({ data: ids.map((id) => ({ type: 'agent-pools' as const, id })) });

/** Adds and removes pools, so that the list restricts exactly these. */
const choosePools = async (id: string, before: readonly string[], pools: readonly string[]): Promise<void> => {
  const params = { path: { id } };
  const added = pools.filter((pool) => !before.includes(pool));
  const removed = before.filter((pool) => !pools.includes(pool));
  if (added.length > 0) await requireSuccess(api.POST(POOLS, { params, body: toPools(added) }));
  if (removed.length > 0) await requireSuccess(api.DELETE(POOLS, { params, body: toPools(removed) }));
};

/** Creates a list without ranges, which restricts nobody yet. */
export const useCreateAgentList = (organization: string) =>
  useChange({
    mutationFn: async (content: AgentListContent) => {
      const body = { data: { type: 'cidr-range-lists' as const, attributes: toAttributes(content) } };
      const { id } = await readData(api.POST(LISTS, { params: { path: { organization } }, body }));
      if (!content.isForAll) await choosePools(id, [], content.pools);
    },
    rereads: allowlistKey(organization),
  });

export const useUpdateAgentList = (organization: string, { id, relationships }: AgentList) =>
  useChange({
    mutationFn: async (content: AgentListContent) => {
      const body = { data: { type: 'cidr-range-lists' as const, attributes: toAttributes(content) } };
      await requireSuccess(api.PATCH(LIST, { params: { path: { id } }, body }));
      // A list of all agents has no pools of its own.
      if (content.isForAll) return;
      await choosePools(
        id,
        relationships['agent-pools'].data.map((pool) => pool.id),
        content.pools,
      );
    },
    rereads: allowlistKey(organization),
  });

export const useDeleteAgentList = (organization: string) =>
  useChange({
    mutationFn: (id: string) => requireSuccess(api.DELETE(LIST, { params: { path: { id } } })),
    rereads: allowlistKey(organization),
  });
