import { z } from 'zod';
import { defineEvents, describeChangedAttributes, type EventKinds } from '#platform/kernel';
import { optionalMembers } from '#api/json-api/rules';
import { inOrganization } from '#api/access/rules';
import { ACCEPTED_PHASES, type AgentEvent } from './agents/agent.js';
import type { AgentPoolEvent, AgentPoolSettings } from './agent-pools/agent-pool.js';

const ids = z.array(z.string());

const settings = z.strictObject({
  name: z.string(),
  organizationScoped: z.boolean(),
  remoteRunsEnabled: z.boolean(),
  allowedWorkspaces: ids,
  allowedProjects: ids,
  excludedWorkspaces: ids,
}) satisfies z.ZodType<AgentPoolSettings>;

const changes = optionalMembers(settings);

const OF_SITE = { site: 'without-organization' } as const;

/**
 * The events of pools and agents. The catalogue of the audit trail has only agents, so the entries about pools are
 * Cadastre's own.
 */
export const agentEvents = {
  ...defineEvents(
    {
      topic: 'agents',
      stream: 'apool',
      audited: 'agent_pool',
      live: inOrganization('agent-pools', 'read-agent-pools'),
    },
    {
      AgentPoolCreated: {
        schemaVersion: 2,
        // 2: remoteRunsEnabled, which is false for older pools, because no owner enabled it.
        upcast: { 1: [{ add: { remoteRunsEnabled: false } }] },
        schema: settings,
        audit: {
          ...OF_SITE,
          action: 'create',
          // The field is absent if it is false, as in entries of earlier versions. A rebuilt trail then equals the original.
          meta: ({ name, remoteRunsEnabled }) => ({
            name,
            ...(remoteRunsEnabled ? { remote_runs_enabled: true } : {}),
          }),
        },
        live: 'created',
        ids: {
          refersTo: { 'allowedProjects[]': ['prj'], 'allowedWorkspaces[]': ['ws'], 'excludedWorkspaces[]': ['ws'] },
        },
      },
      AgentPoolUpdated: {
        schema: z.strictObject({ changes }),
        audit: {
          ...OF_SITE,
          action: 'update',
          meta: ({ changes: changed }) => ({
            ...describeChangedAttributes(changed),
            ...(changed.remoteRunsEnabled === undefined ? {} : { remote_runs_enabled: changed.remoteRunsEnabled }),
          }),
        },
        live: 'changed',
        ids: {
          refersTo: {
            'changes.allowedProjects[]': ['prj'],
            'changes.allowedWorkspaces[]': ['ws'],
            'changes.excludedWorkspaces[]': ['ws'],
          },
        },
      },
      AgentPoolDeleted: {
        schema: z.strictObject({ name: z.string() }),
        audit: { ...OF_SITE, action: 'destroy', meta: ({ name }) => ({ name }) },
        live: 'deleted',
      },
    },
  ),
  ...defineEvents(
    { topic: 'agents', stream: 'agent', audited: 'agent', live: inOrganization('agents', 'read-agent-pools') },
    {
      AgentRegistered: {
        schemaVersion: 2,
        // 2: executor, which is null for older agents, because they did not describe themselves.
        upcast: { 1: [{ add: { executor: null } }] },
        schema: z.strictObject({
          pool: z.string(),
          name: z.string().nullable(),
          ipAddress: z.string().nullable(),
          executor: z
            .strictObject({ version: z.string(), capacity: z.int(), phases: z.array(z.enum(ACCEPTED_PHASES)) })
            .nullable(),
        }),
        audit: { ...OF_SITE, action: 'create', meta: ({ pool, name }) => ({ name, agent_pool_id: pool }) },
        live: 'created',
        ids: { refersTo: { pool: ['apool'] } },
      },
      AgentDeregistered: {
        schema: z.strictObject({ pool: z.string(), name: z.string().nullable() }),
        audit: { ...OF_SITE, action: 'destroy', meta: ({ pool, name }) => ({ name, agent_pool_id: pool }) },
        live: 'deleted',
        ids: { refersTo: { pool: ['apool'] } },
      },
    },
  ),
} satisfies EventKinds<AgentPoolEvent | AgentEvent>;
