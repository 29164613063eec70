import { claimNames, sql, type OrganizationDeleted, type Projection, type Sql } from '#platform/kernel';
import { raiseEpoch, selectAddressesSubject, selectMembersSubject } from '#api/access';
import type { AgentPoolDeleted } from '#organizations/agents';
import { IP_ALLOWLIST_NAMES } from './ip-allowlist-names.js';
import type { AllowedRange, IpAllowlistEvent } from './ip-allowlist.js';

export const ipAllowlists: Projection<IpAllowlistEvent | AgentPoolDeleted | OrganizationDeleted> = {
  name: 'ip_allowlists',
  version: 1,
  tables: ['ip_allowlists'],
  on: {
    IpAllowlistCreated: ({ name, description, enforcementScope }, { stream, organization, time }) => sql`
      insert into ip_allowlists (id, organization, name, description, enforcement_scope, created_at, updated_at)
      values (${stream}, ${organization}, ${name}, ${description}, ${enforcementScope}, ${time}, ${time})`,
    IpAllowlistUpdated: ({ name, description, enforcementScope }, { stream, time }) => sql`
      update ip_allowlists
         set name = ${name}, description = ${description}, enforcement_scope = ${enforcementScope}, updated_at = ${time},
             agent_pools = case when ${enforcementScope} = 'selected_agent_pools' then agent_pools else '{}' end
       where id = ${stream}`,
    IpAllowlistRangeAdded: null,
    IpAllowlistRangeUpdated: null,
    IpAllowlistRangeRemoved: null,
    IpAllowlistAgentPoolsAdded: ({ agentPools }, { stream, time }) => sql`
      update ip_allowlists set agent_pools = agent_pools || ${agentPools}::text[], updated_at = ${time} where id = ${stream}`,
    IpAllowlistAgentPoolsRemoved: ({ agentPools }, { stream, time }) => sql`
      update ip_allowlists
         set agent_pools = array(select pool from unnest(agent_pools) as pool where pool <> all (${agentPools}::text[])),
             updated_at = ${time}
       where id = ${stream}`,
    AgentPoolDeleted: (_, { stream, organization }) => sql`
      update ip_allowlists set agent_pools = array_remove(agent_pools, ${stream})
       where organization = ${organization} and ${stream} = any (agent_pools)`,
    IpAllowlistDeleted: (_, { stream }) => sql`delete from ip_allowlists where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from ip_allowlists where organization = ${stream}`,
  },
};

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild must accept names that are older. */
export const ipAllowlistNames: Projection<
  Extract<IpAllowlistEvent, { type: 'IpAllowlistCreated' | 'IpAllowlistUpdated' }>
> = {
  name: 'ip_allowlist_names',
  tables: [],
  on: {
    IpAllowlistCreated: (_, { stream }) => claimNames(IP_ALLOWLIST_NAMES, [stream]),
    IpAllowlistUpdated: (_, { stream }) => claimNames(IP_ALLOWLIST_NAMES, [stream]),
  },
};

type EventOrigin = { readonly stream: string; readonly organization: string | null; readonly time: string };

const insertRange = (
  { id, range, description, enabled }: AllowedRange,
  { stream, organization, time }: EventOrigin,
): Sql => sql`
  insert into ip_allowlist_ranges (id, list, organization, range, description, enabled, created_at, updated_at)
  values (${id}, ${stream}, ${organization}, ${range}, ${description}, ${enabled}, ${time}, ${time})`;

type RangeEvent = Exclude<
  IpAllowlistEvent,
  { type: 'IpAllowlistUpdated' | 'IpAllowlistAgentPoolsAdded' | 'IpAllowlistAgentPoolsRemoved' }
>;

export const ipAllowlistRanges: Projection<RangeEvent | OrganizationDeleted> = {
  name: 'ip_allowlist_ranges',
  version: 1,
  tables: ['ip_allowlist_ranges'],
  on: {
    IpAllowlistCreated: ({ ranges }, event) => ranges.map((range) => insertRange(range, event)),
    IpAllowlistRangeAdded: (range, event) => insertRange(range, event),
    IpAllowlistRangeUpdated: ({ id, range, description, enabled }, { time }) => sql`
      update ip_allowlist_ranges
         set range = ${range}, description = ${description}, enabled = ${enabled}, updated_at = ${time} where id = ${id}`,
    IpAllowlistRangeRemoved: ({ id }) => sql`delete from ip_allowlist_ranges where id = ${id}`,
    IpAllowlistDeleted: (_, { stream }) => sql`delete from ip_allowlist_ranges where list = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from ip_allowlist_ranges where organization = ${stream}`,
  },
};

const raiseEpochs = (_: unknown, { organization }: EventOrigin): readonly Sql[] => [
  raiseEpoch(selectMembersSubject(sql`${organization}::text`)),
  raiseEpoch(selectAddressesSubject(sql`${organization}::text`)),
];

/** Raises the access epoch of all callers of the organization, because gateways cache the ranges with the callers. */
export const ipAllowlistEpochs: Projection<IpAllowlistEvent> = {
  name: 'ip_allowlist_epochs',
  tables: [],
  on: {
    IpAllowlistCreated: raiseEpochs,
    IpAllowlistUpdated: raiseEpochs,
    IpAllowlistRangeAdded: raiseEpochs,
    IpAllowlistRangeUpdated: raiseEpochs,
    IpAllowlistRangeRemoved: raiseEpochs,
    IpAllowlistAgentPoolsAdded: raiseEpochs,
    IpAllowlistAgentPoolsRemoved: raiseEpochs,
    IpAllowlistDeleted: raiseEpochs,
  },
};
