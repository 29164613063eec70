import { z } from 'zod';
import { describeChangedAttributes, type EventKinds } from '#kernel';
import type { AgentEvent } from './agents/agent.js';
import type { AgentPoolChanges, AgentPoolEvent, AgentPoolSettings } from './agent-pools/agent-pool.js';

const ids = z.array(z.string());

const settings = z.strictObject({
  name: z.string(),
  organizationScoped: z.boolean(),
  remoteRunsEnabled: z.boolean(),
  allowedWorkspaces: ids,
  allowedProjects: ids,
  excludedWorkspaces: ids,
}) satisfies z.ZodType<AgentPoolSettings>;

const changes = settings.partial() as unknown as z.ZodType<AgentPoolChanges>;

/**
 * Schemas, topics and audit entries of the events of pools and agents. The contract's catalogue only names agents
 * (§6.1).
 */
export const agentEvents: EventKinds<AgentPoolEvent | AgentEvent> = {
  AgentPoolCreated: {
    schemaVersion: 2,
    // 2: remoteRunsEnabled, which is false for older pools, because no owner enabled it.
    upcast: { 1: [{ add: { remoteRunsEnabled: false } }] },
    topic: 'agents',
    schema: settings,
    audit: {
      resource: 'agent_pool',
      action: 'create',
      // Absent if false, as in entries of earlier versions, so that a rebuilt trail equals the original one.
      meta: ({ name, remoteRunsEnabled }) => ({ name, ...(remoteRunsEnabled ? { remote_runs_enabled: true } : {}) }),
    },
  },
  AgentPoolUpdated: {
    schemaVersion: 1,
    topic: 'agents',
    schema: z.strictObject({ changes }),
    audit: {
      resource: 'agent_pool',
      action: 'update',
      meta: ({ changes: changed }) => ({
        ...describeChangedAttributes(changed),
        ...(changed.remoteRunsEnabled === undefined ? {} : { remote_runs_enabled: changed.remoteRunsEnabled }),
      }),
    },
  },
  AgentPoolDeleted: {
    schemaVersion: 1,
    topic: 'agents',
    schema: z.strictObject({ name: z.string() }),
    audit: { resource: 'agent_pool', action: 'destroy', meta: ({ name }) => ({ name }) },
  },
  AgentRegistered: {
    schemaVersion: 1,
    topic: 'agents',
    schema: z.strictObject({ pool: z.string(), name: z.string().nullable(), ipAddress: z.string().nullable() }),
    audit: { resource: 'agent', action: 'create', meta: ({ pool, name }) => ({ name, agent_pool_id: pool }) },
  },
  AgentDeregistered: {
    schemaVersion: 1,
    topic: 'agents',
    schema: z.strictObject({ pool: z.string(), name: z.string().nullable() }),
    audit: { resource: 'agent', action: 'destroy', meta: ({ pool, name }) => ({ name, agent_pool_id: pool }) },
  },
};
