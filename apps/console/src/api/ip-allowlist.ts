import { queryOptions } from '@tanstack/react-query';
import type { ApiResource } from '#packages/client';
import { readData, readDocument } from './api-error.js';
import { api } from './client.js';
import { organizationKey } from './organizations.js';

export type CidrRange = ApiResource<'CidrRange'>;

/** A list that restricts agents. */
export type AgentList = ApiResource<'CidrRangeList'>;

/** The list that restricts people, and what a person needs to know before a change of it. */
export type IpAllowlist = {
  /** Null if the organization has no such list. */
  readonly id: string | null;
  readonly ranges: readonly CidrRange[];
  /** The person's own address, as the server sees it. */
  readonly address: string | null;
  readonly agentLists: readonly AgentList[];
};

/** No organization has more lists, and no list more ranges. */
export const PAGE_SIZE = 100;

export const allowlistKey = (organization: string) => [...organizationKey(organization), 'ip-allowlist'] as const;

export const LISTS = '/api/v2/organizations/{organization}/cidr-range-lists';
export const RANGES = '/api/v2/cidr-range-lists/{id}/relationships/cidr-ranges';

export const ipAllowlistQuery = (organization: string) =>
  queryOptions({
    queryKey: allowlistKey(organization),
    queryFn: async ({ signal }): Promise<IpAllowlist> => {
      const query = { 'page[size]': PAGE_SIZE };
      const { data, meta } = await readDocument(api.GET(LISTS, { params: { path: { organization }, query }, signal }));
      const isOwn = ({ attributes }: AgentList) => attributes['enforcement-scope'] === 'organization';
      const own = data.find(isOwn);
      const ranges = own ? await readData(api.GET(RANGES, { params: { path: { id: own.id }, query }, signal })) : [];
      const agentLists = data.filter((list) => !isOwn(list));
      return { id: own?.id ?? null, ranges, address: meta['client-address'], agentLists };
    },
  });
