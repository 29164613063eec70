import type { ActingPrincipal } from '#access';
import { z } from 'zod';
import { describeChangedAttributes, describePersonalName, type EventKinds } from '#kernel';
import { upcastChanges, upcastMember } from '#json-api';
import { WORKSPACE_SETTINGS, type WorkspaceChanges } from './settings/workspace-settings.js';
import type { StateSummary } from './workspaces/state-head.js';
import type { WorkspaceEvent } from './workspaces/workspace.js';

const settings = z.strictObject(WORKSPACE_SETTINGS.shape);
const changes = settings.extend({ name: z.string() }).partial() as unknown as z.ZodType<WorkspaceChanges>;
const tag = z.strictObject({ key: z.string(), value: z.string().nullable() });
const holder = z.strictObject({
  type: z.enum(['users', 'teams', 'runs']),
  id: z.string(),
  name: z.string(),
}) satisfies z.ZodType<ActingPrincipal>;

const counts = z.record(z.string(), z.record(z.string(), z.number()));
const stateFacts = {
  format: z.int(),
  lineage: z.string().nullable(),
  size: z.int(),
  terraformVersion: z.string().nullable(),
  resources: z.int(),
  providers: counts,
  modules: counts,
  outputs: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      sensitive: z.boolean(),
      type: z.string(),
      detailedType: z.unknown(),
    }),
  ),
} satisfies Record<keyof StateSummary, z.ZodType>;

const defineConsumerAudit = (done: 'added' | 'removed') => ({
  resource: 'workspace',
  action: 'update',
  meta: ({ workspaces }: { readonly workspaces: readonly string[] }) => ({
    change: 'remote_state_consumers',
    [done]: workspaces,
  }),
});

/** Event schemas, topics and audit mappings of workspaces. */
export const workspaceEvents: EventKinds<WorkspaceEvent> = {
  WorkspaceCreated: {
    schemaVersion: WORKSPACE_SETTINGS.version,
    upcast: upcastMember(WORKSPACE_SETTINGS, 'settings'),
    topic: 'workspaces',
    schema: z.strictObject({ project: z.string(), name: z.string(), settings, tags: z.array(tag) }),
    audit: { resource: 'workspace', action: 'create', meta: ({ name, tags }) => ({ name, tags }) },
  },
  WorkspaceUpdated: {
    schemaVersion: WORKSPACE_SETTINGS.version,
    upcast: upcastChanges(WORKSPACE_SETTINGS),
    topic: 'workspaces',
    schema: z.strictObject({ changes }),
    audit: {
      resource: 'workspace',
      action: 'update',
      meta: (data) => ({ change: 'settings', ...describeChangedAttributes(data.changes) }),
    },
  },
  WorkspaceMoved: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ from: z.string(), to: z.string() }),
    audit: { resource: 'workspace', action: 'update', meta: (data) => ({ change: 'project', ...data }) },
  },
  WorkspaceDeleted: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ name: z.string(), project: z.string(), forced: z.boolean() }),
    audit: { resource: 'workspace', action: 'destroy', meta: ({ name, forced }) => ({ name, forced }) },
  },
  WorkspaceSshKeyAssigned: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ key: z.string() }),
    audit: { resource: 'workspace', action: 'update', meta: ({ key }) => ({ change: 'ssh_key', ssh_key_id: key }) },
  },
  WorkspaceSshKeyUnassigned: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ key: z.string() }),
    audit: { resource: 'workspace', action: 'update', meta: () => ({ change: 'ssh_key', ssh_key_id: null }) },
  },
  WorkspaceLocked: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ holder, reason: z.string() }),
    audit: { resource: 'workspace', action: 'lock', meta: ({ reason }) => ({ reason }) },
    personal: ({ holder }) => describePersonalName('holder', holder),
  },
  WorkspaceUnlocked: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ holder, forced: z.boolean() }),
    audit: { resource: 'workspace', action: ({ forced }) => (forced ? 'force_unlock' : 'unlock') },
    personal: ({ holder }) => describePersonalName('holder', holder),
  },
  WorkspaceTagAdded: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ name: z.string() }),
    audit: { resource: 'workspace', action: 'update', meta: ({ name }) => ({ change: 'tags', added: name }) },
  },
  WorkspaceTagRemoved: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ name: z.string() }),
    audit: { resource: 'workspace', action: 'update', meta: ({ name }) => ({ change: 'tags', removed: name }) },
  },
  WorkspaceTagBound: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ key: z.string(), from: z.string().nullable(), to: z.string() }),
    audit: { resource: 'workspace', action: 'update', meta: (data) => ({ change: 'tag_bindings', ...data }) },
  },
  WorkspaceTagUnbound: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ key: z.string(), from: z.string() }),
    audit: { resource: 'workspace', action: 'update', meta: (data) => ({ change: 'tag_bindings', ...data, to: null }) },
  },
  WorkspaceTagged: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ tags: z.array(tag) }),
    audit: { resource: 'workspace', action: 'update', meta: ({ tags }) => ({ change: 'tags', added: tags }) },
  },
  WorkspaceUntagged: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ keys: z.array(z.string()) }),
    audit: { resource: 'workspace', action: 'update', meta: ({ keys }) => ({ change: 'tags', removed: keys }) },
  },
  RemoteStateConsumersAdded: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ workspaces: z.array(z.string()) }),
    audit: defineConsumerAudit('added'),
  },
  RemoteStateConsumersRemoved: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ workspaces: z.array(z.string()) }),
    audit: defineConsumerAudit('removed'),
  },
  StateVersionCreated: {
    schemaVersion: 2,
    upcast: { 1: [{ add: { rollbackOf: null } }] },
    topic: 'workspaces',
    schema: z.strictObject({
      id: z.string(),
      serial: z.int(),
      lineage: z.string().nullable(),
      md5: z.string(),
      createdBy: holder,
      run: z.string().nullable(),
      rollbackOf: z.string().nullable(),
    }),
    audit: {
      resource: 'state_version',
      action: 'create',
      id: ({ id }) => id,
      meta: ({ serial, rollbackOf }, { stream }) => ({
        serial,
        workspace_id: stream,
        ...(rollbackOf ? { rollback_state_version_id: rollbackOf } : {}),
      }),
    },
    personal: ({ createdBy }) => describePersonalName('createdBy', createdBy),
  },
  StateVersionFinalized: {
    schemaVersion: 2,
    // Version 1 was written for states in format 4 only, and had no lineage.
    upcast: { 1: [{ add: { format: 4, lineage: null } }] },
    topic: 'workspaces',
    schema: z.strictObject({ id: z.string(), ...stateFacts }),
    audit: { unaudited: 'the upload belongs to the creation, which has an entry' },
  },
  StateVersionPromoted: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ id: z.string(), resources: z.int() }),
    audit: { unaudited: 'happens with the unlock, which has an entry' },
  },
  StateVersionErrored: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ id: z.string() }),
    audit: { unaudited: 'the upload belongs to the creation, which has an entry' },
  },
  StateVersionDiscarded: {
    schemaVersion: 1,
    topic: 'workspaces',
    schema: z.strictObject({ id: z.string() }),
    audit: { unaudited: 'happens with a forced unlock or with the creation of the next version, which have entries' },
  },
};
