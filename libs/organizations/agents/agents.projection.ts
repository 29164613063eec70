import {
  claimNames,
  sql,
  type Projection,
  type Sql,
  type OrganizationDeleted,
  type ProjectEnd,
  whenProjectEnds,
  type WorkspaceEnd,
  whenWorkspaceEnds,
} from '#platform/kernel';
import type { AgentEvent } from './agents/agent.js';
import { AGENT_POOL_NAMES } from './agent-pools/agent-pool-names.js';
import { SCOPES, type AgentPoolDeleted, type AgentPoolEvent, type PoolScopes } from './agent-pools/agent-pool.js';

type TargetDeleted = WorkspaceEnd | ProjectEnd;

export const agentPools: Projection<AgentPoolEvent | OrganizationDeleted> = {
  name: 'agent_pools',
  version: 1,
  tables: ['agent_pools'],
  on: {
    AgentPoolCreated: ({ name, organizationScoped, remoteRunsEnabled }, { stream, organization, time }) => sql`
      insert into agent_pools (id, organization, name, organization_scoped, remote_runs_enabled, created_at)
      values (${stream}, ${organization}, ${name}, ${organizationScoped}, ${remoteRunsEnabled}, ${time})`,
    AgentPoolUpdated: ({ changes: { name, organizationScoped, remoteRunsEnabled } }, { stream }) => sql`
      update agent_pools
         set name = coalesce(${name ?? null}, name),
             organization_scoped = coalesce(${organizationScoped ?? null}, organization_scoped),
             remote_runs_enabled = coalesce(${remoteRunsEnabled ?? null}, remote_runs_enabled)
       where id = ${stream}`,
    AgentPoolDeleted: (_, { stream }) => sql`delete from agent_pools where id = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from agent_pools where organization = ${stream}`,
  },
};

/** Keeps names unique regardless of case. `tables` is empty, because a rebuild must accept names that are older. */
export const agentPoolNames: Projection<Extract<AgentPoolEvent, { type: 'AgentPoolCreated' | 'AgentPoolUpdated' }>> = {
  name: 'agent_pool_names',
  tables: [],
  on: {
    AgentPoolCreated: (_, { stream }) => claimNames(AGENT_POOL_NAMES, [stream]),
    AgentPoolUpdated: ({ changes }, { stream }) =>
      changes.name === undefined ? null : claimNames(AGENT_POOL_NAMES, [stream]),
  },
};

/** Replaces the lists that are present. */
const replaceScopes = (pool: string, organization: string | null, scopes: Partial<PoolScopes>): readonly Sql[] => {
  const scopesToReplace = SCOPES.filter((scope) => scopes[scope] !== undefined);
  if (scopesToReplace.length === 0) return [];
  return [
    sql`delete from agent_pool_scopes where pool = ${pool} and scope = any (${scopesToReplace}::text[])`,
    ...scopesToReplace.map(
      (scope) => sql`
        insert into agent_pool_scopes (pool, organization, scope, target)
        select ${pool}, ${organization}, ${scope}, unnest(${scopes[scope]}::text[])`,
    ),
  ];
};

export const agentPoolScopes: Projection<AgentPoolEvent | TargetDeleted | OrganizationDeleted> = {
  name: 'agent_pool_scopes',
  version: 1,
  tables: ['agent_pool_scopes'],
  on: {
    AgentPoolCreated: (scopes, { stream, organization }) => replaceScopes(stream, organization, scopes),
    AgentPoolUpdated: ({ changes }, { stream, organization }) => replaceScopes(stream, organization, changes),
    AgentPoolDeleted: (_, { stream }) => sql`delete from agent_pool_scopes where pool = ${stream}`,
    ...whenWorkspaceEnds((workspace) => sql`delete from agent_pool_scopes where target = ${workspace}`),
    ...whenProjectEnds((project) => sql`delete from agent_pool_scopes where target = ${project}`),
    OrganizationDeleted: (_, { stream }) => sql`delete from agent_pool_scopes where organization = ${stream}`,
  },
};

export const agents: Projection<AgentEvent | AgentPoolDeleted | OrganizationDeleted> = {
  name: 'agents',
  version: 2,
  tables: ['agents'],
  on: {
    AgentRegistered: ({ pool, name, ipAddress, executor }, { stream, organization, time }) => sql`
      insert into agents (id, organization, pool, name, ip_address, executor, created_at)
      values (${stream}, ${organization}, ${pool}, ${name}, ${ipAddress}, ${executor && JSON.stringify(executor)}::jsonb, ${time})`,
    AgentDeregistered: (_, { stream }) => sql`delete from agents where id = ${stream}`,
    // The tokens of the pool are destroyed too, so its agents cannot come back.
    AgentPoolDeleted: (_, { stream }) => sql`delete from agents where pool = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from agents where organization = ${stream}`,
  },
};

/**
 * Deletes pings together with their agents. `tables` is empty, because pings are not a view of the log
 * (sql/001_agents.sql).
 */
export const agentPings: Projection<
  Exclude<AgentEvent, { type: 'AgentRegistered' }> | AgentPoolDeleted | OrganizationDeleted
> = {
  name: 'agent_pings',
  tables: [],
  on: {
    AgentDeregistered: (_, { stream }) => sql`delete from agents.pings where agent = ${stream}`,
    AgentPoolDeleted: (_, { stream }) => sql`delete from agents.pings where pool = ${stream}`,
    OrganizationDeleted: (_, { stream }) => sql`delete from agents.pings where organization = ${stream}`,
  },
};
