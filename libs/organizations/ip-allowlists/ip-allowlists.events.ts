import { z } from 'zod';
import { defineEvents, type EventKinds } from '#platform/kernel';
import { inOrganization } from '#api/access/rules';
import { ENFORCEMENT_SCOPES, type IpAllowlistEvent } from './ip-allowlist.js';

const content = z.strictObject({
  name: z.string(),
  description: z.string().nullable(),
  enforcementScope: z.enum(ENFORCEMENT_SCOPES),
});
const range = z.strictObject({
  id: z.string(),
  range: z.string(),
  description: z.string().nullable(),
  enabled: z.boolean(),
});
const agentPools = z.strictObject({ agentPools: z.array(z.string()) });

const describeRange = ({ range: text, enabled }: { readonly range: string; readonly enabled: boolean }) => ({
  range: text,
  enabled,
});

const POOLS = { refersTo: { 'agentPools[]': ['apool'] } } as const;
const RANGE = { creates: { id: 'cidr' } } as const;

/**
 * The trail of the site records these events too, because site administrators and operators change lists that lock owners
 * out.
 */
const site = 'always';

export const ipAllowlistEvents = defineEvents(
  {
    topic: 'ip-allowlists',
    stream: 'crl',
    audited: 'cidr_range_list',
    live: inOrganization('cidr-range-lists', 'manage-ip-allowlists'),
  },
  {
    IpAllowlistCreated: {
      schema: content.extend({ ranges: z.array(range) }),
      audit: {
        action: 'create',
        site,
        meta: ({ name, enforcementScope, ranges }) => ({
          name,
          enforcement_scope: enforcementScope,
          ranges: ranges.map(describeRange),
        }),
      },
      live: 'created',
      ids: { creates: { 'ranges[].id': 'cidr' } },
    },
    IpAllowlistUpdated: {
      schema: content,
      audit: {
        action: 'update',
        site,
        meta: ({ name, enforcementScope }) => ({ name, enforcement_scope: enforcementScope }),
      },
      live: 'changed',
    },
    IpAllowlistRangeAdded: {
      schema: range,
      audit: { action: 'update', site, meta: (data) => ({ change: 'range_added', ...describeRange(data) }) },
      live: 'changed',
      ids: RANGE,
    },
    IpAllowlistRangeUpdated: {
      schema: range,
      audit: { action: 'update', site, meta: (data) => ({ change: 'range_updated', ...describeRange(data) }) },
      live: 'changed',
      ids: RANGE,
    },
    IpAllowlistRangeRemoved: {
      schema: range.pick({ id: true, range: true }),
      audit: { action: 'update', site, meta: (data) => ({ change: 'range_removed', range: data.range }) },
      live: 'changed',
      ids: RANGE,
    },
    IpAllowlistAgentPoolsAdded: {
      schema: agentPools,
      audit: {
        action: 'update',
        site,
        meta: (data) => ({ change: 'agent_pools_added', agent_pools: data.agentPools }),
      },
      live: 'changed',
      ids: POOLS,
    },
    IpAllowlistAgentPoolsRemoved: {
      schema: agentPools,
      audit: {
        action: 'update',
        site,
        meta: (data) => ({ change: 'agent_pools_removed', agent_pools: data.agentPools }),
      },
      live: 'changed',
      ids: POOLS,
    },
    IpAllowlistDeleted: {
      schema: z.strictObject({ name: z.string() }),
      audit: { action: 'destroy', site, meta: ({ name }) => ({ name }) },
      live: 'deleted',
    },
  },
) satisfies EventKinds<IpAllowlistEvent>;
