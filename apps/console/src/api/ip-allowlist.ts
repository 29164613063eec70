import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData, readDocument, requireSuccess } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';
import { useChange } from './use-change.js';

export type CidrRange = ApiResource<'CidrRange'>;

/** The list that restricts people, and what a person needs to know before a change of it. */
export type IpAllowlist = {
  /** Null if the organization has no such list. */
  readonly id: string | null;
  readonly ranges: readonly CidrRange[];
  /** The person's own address, as the server sees it. */
  readonly address: string | null;
  /** Number of lists for agents. */
  readonly agentLists: number;
};

/** No organization has more lists, and no list more ranges. */
const PAGE_SIZE = 100;

const allowlistKey = (organization: string) => [...organizationKey(organization), 'ip-allowlist'] as const;

const LISTS = '/api/v2/organizations/{organization}/cidr-range-lists';
const RANGES = '/api/v2/cidr-range-lists/{id}/relationships/cidr-ranges';

export const ipAllowlistQuery = (organization: string) =>
  queryOptions({
    queryKey: allowlistKey(organization),
    queryFn: async ({ signal }): Promise<IpAllowlist> => {
      const query = { 'page[size]': PAGE_SIZE };
      const { data, meta } = await readDocument(api.GET(LISTS, { params: { path: { organization }, query }, signal }));
      const own = data.find(({ attributes }) => attributes['enforcement-scope'] === 'organization');
      const ranges = own ? await readData(api.GET(RANGES, { params: { path: { id: own.id }, query }, signal })) : [];
      const agentLists = data.length - (own ? 1 : 0);
      return { id: own?.id ?? null, ranges, address: meta['client-address'], agentLists };
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
