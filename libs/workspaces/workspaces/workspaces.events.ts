import type { ActingPrincipal } from '#api/access';
import { z } from 'zod';
import {
  defineEvents,
  describeChangedAttributes,
  describePersonalName,
  type EventKinds,
  type IdSource,
  type NotificationRule,
  type SentTrigger,
  createSubject,
  endSubject,
  getIds,
  updateSubject,
  withTags,
  withoutTags,
} from '#platform/kernel';
import { onResource } from '#api/access/rules';
import { upcastChanges, upcastMember, optionalMembers } from '#api/json-api';
import { WORKSPACE_SETTINGS } from './settings/workspace-settings.js';
import type { StateSummary } from './workspaces/state-head.js';
import type { WorkspaceEvent } from './workspaces/workspace.js';
import {
  beginLock,
  beginWorkspace,
  endLock,
  leaseLock,
  recoverWorkspace,
  updateWorkspace,
} from './workspaces/workspace-history.js';

const settings = z.strictObject(WORKSPACE_SETTINGS.shape);
const changes = optionalMembers(settings.extend({ name: z.string() }));
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

/** Runs lock and unlock their workspace themselves. The triggers of runs cover that. */
const unlessRun = (trigger: SentTrigger, { type }: ActingPrincipal): NotificationRule | null =>
  type === 'runs' ? null : { trigger };

/** `project` is the field with the project of the workspace. `left` is the field with the project that it was moved from. */
const onWorkspace = (more: { readonly project?: IdSource; readonly left?: IdSource } = {}) =>
  onResource('workspaces', { in: 'workspace', id: 'stream', permission: 'read-workspace', ...more });

/** Documents of workspaces show some attributes of their state versions. */
const stateVersion = onResource(
  'state-versions',
  { in: 'workspace', id: 'stream', permission: 'read-state', changesWorkspace: true },
  { field: 'id' },
);

/** The events of workspaces, and those of state versions in the streams of their workspaces. */
export const workspaceEvents = defineEvents(
  { topic: 'workspaces', stream: 'ws', audited: 'workspace', live: onWorkspace() },
  {
    WorkspaceCreated: {
      schemaVersion: WORKSPACE_SETTINGS.version,
      upcast: upcastMember(WORKSPACE_SETTINGS, 'settings'),
      schema: z.strictObject({ project: z.string(), name: z.string(), settings, tags: z.array(tag) }),
      audit: { action: 'create', meta: ({ name, tags }) => ({ name, tags }) },
      live: onWorkspace({ project: { field: 'project' } })('created'),
      history: beginWorkspace,
      notifies: ({ name }) => ({ trigger: 'workspace:created', workspaceName: name }),
      ids: { refersTo: { project: ['prj'], 'settings.agentPoolId': ['apool'] } },
    },
    WorkspaceUpdated: {
      schemaVersion: WORKSPACE_SETTINGS.version,
      upcast: upcastChanges(WORKSPACE_SETTINGS),
      schema: z.strictObject({ changes }),
      audit: { action: 'update', meta: (data) => ({ change: 'settings', ...describeChangedAttributes(data.changes) }) },
      live: 'changed',
      history: ({ changes }, event) => updateWorkspace(event, changes),
      ids: { refersTo: { 'changes.agentPoolId': ['apool'] } },
    },
    /** The workspace follows a repository, or another one than before. */
    WorkspaceRepositoryConnected: {
      schema: z.strictObject({ identifier: z.string() }),
      audit: { resource: 'vcs_repo', action: 'create', meta: ({ identifier }) => ({ identifier }) },
      live: 'changed',
    },
    WorkspaceMoved: {
      schema: z.strictObject({ from: z.string(), to: z.string() }),
      audit: { action: 'update', meta: (data) => ({ change: 'project', ...data }) },
      live: onWorkspace({ project: { field: 'to' }, left: { field: 'from' } })('changed'),
      history: ({ to }, event) => updateWorkspace(event, { project: to }),
      ids: { refersTo: { from: ['prj'], to: ['prj'] } },
    },
    WorkspaceDeleted: {
      schemaVersion: 2,
      // Deletions of version 1 were final.
      upcast: { 1: [{ add: { recoverableUntil: null } }] },
      schema: z.strictObject({
        name: z.string(),
        project: z.string(),
        forced: z.boolean(),
        recoverableUntil: z.string().nullable(),
      }),
      audit: {
        action: 'destroy',
        meta: ({ name, forced, recoverableUntil }) => ({
          name,
          forced,
          ...(recoverableUntil === null ? {} : { recoverable_until: recoverableUntil }),
        }),
      },
      live: onWorkspace({ project: { field: 'project' } })('deleted'),
      history: (_, event, lookup) => endLock(lookup, event, true, (marks) => endSubject(event.stream, marks)),
      notifies: ({ name }) => ({ trigger: 'workspace:deleted', workspaceName: name }),
      ids: { refersTo: { project: ['prj'] } },
    },
    WorkspaceRecovered: {
      schema: z.strictObject({ name: z.string(), project: z.string() }),
      audit: { action: 'recover', meta: ({ name, project }) => ({ name, project_id: project }) },
      live: onWorkspace({ project: { field: 'project' } })('created'),
      history: recoverWorkspace,
      ids: { refersTo: { project: ['prj'] } },
    },
    WorkspacePurged: {
      schema: z.strictObject({ name: z.string(), project: z.string(), expired: z.boolean() }),
      audit: { action: 'purge', meta: ({ name, expired }) => ({ name, expired }) },
      live: { unsent: 'the message about the deletion has said that the workspace is gone' },
      ids: { refersTo: { project: ['prj'] } },
    },
    WorkspaceSshKeyAssigned: {
      schema: z.strictObject({ key: z.string() }),
      audit: { action: 'update', meta: ({ key }) => ({ change: 'ssh_key', ssh_key_id: key }) },
      live: 'changed',
      history: ({ key }, event) => updateWorkspace(event, { sshKey: key }),
      ids: { refersTo: { key: ['sshkey'] } },
    },
    WorkspaceSshKeyUnassigned: {
      schema: z.strictObject({ key: z.string() }),
      audit: { action: 'update', meta: () => ({ change: 'ssh_key', ssh_key_id: null }) },
      live: 'changed',
      history: (_, event) => updateWorkspace(event, { sshKey: null }),
      ids: { refersTo: { key: ['sshkey'] } },
    },
    WorkspaceLocked: {
      schema: z.strictObject({ holder, reason: z.string() }),
      audit: { action: 'lock', meta: ({ reason }) => ({ reason }) },
      live: 'changed',
      history: beginLock,
      notifies: ({ holder }) => unlessRun('workspace:locked', holder),
      personal: ({ holder }) => describePersonalName('holder', holder),
    },
    WorkspaceUnlocked: {
      schema: z.strictObject({ holder, forced: z.boolean() }),
      audit: { action: ({ forced }) => (forced ? 'force_unlock' : 'unlock') },
      live: 'changed',
      history: ({ forced }, event, lookup) =>
        endLock(lookup, event, forced, (marks) => updateWorkspace(event, { lock: null }, marks)),
      notifies: ({ holder }) => unlessRun('workspace:unlocked', holder),
      personal: ({ holder }) => describePersonalName('holder', holder),
    },
    WorkspaceLockLeased: {
      schema: z.strictObject({ expiresAt: z.string() }),
      audit: { action: 'lease_lock', meta: ({ expiresAt }) => ({ expires_at: expiresAt }) },
      live: 'changed',
      history: leaseLock,
    },
    WorkspaceLockExpired: {
      schema: z.strictObject({ holder }),
      audit: { action: 'expire_lock' },
      live: 'changed',
      history: (_, event, lookup) =>
        endLock(lookup, event, true, (marks) => updateWorkspace(event, { lock: null }, marks)),
      notifies: ({ holder }) => unlessRun('workspace:unlocked', holder),
      personal: ({ holder }) => describePersonalName('holder', holder),
    },
    WorkspaceTagAdded: {
      schema: z.strictObject({ name: z.string() }),
      audit: { action: 'update', meta: ({ name }) => ({ change: 'tags', added: name }) },
      live: 'changed',
      history: ({ name }, event, lookup) =>
        updateWorkspace(event, { tags: withTags(lookup, event.stream, [{ key: name, value: null }]) }),
    },
    WorkspaceTagRemoved: {
      schema: z.strictObject({ name: z.string() }),
      audit: { action: 'update', meta: ({ name }) => ({ change: 'tags', removed: name }) },
      live: 'changed',
      history: ({ name }, event, lookup) => updateWorkspace(event, { tags: withoutTags(lookup, event.stream, [name]) }),
    },
    WorkspaceTagBound: {
      schema: z.strictObject({ key: z.string(), from: z.string().nullable(), to: z.string() }),
      audit: { action: 'update', meta: (data) => ({ change: 'tag_bindings', ...data }) },
      live: 'changed',
      history: ({ key, to }, event, lookup) =>
        updateWorkspace(event, { tags: withTags(lookup, event.stream, [{ key, value: to }]) }),
    },
    WorkspaceTagUnbound: {
      schema: z.strictObject({ key: z.string(), from: z.string() }),
      audit: { action: 'update', meta: (data) => ({ change: 'tag_bindings', ...data, to: null }) },
      live: 'changed',
      history: ({ key }, event, lookup) => updateWorkspace(event, { tags: withoutTags(lookup, event.stream, [key]) }),
    },
    WorkspaceTagged: {
      schema: z.strictObject({ tags: z.array(tag) }),
      audit: { action: 'update', meta: ({ tags }) => ({ change: 'tags', added: tags }) },
      live: 'changed',
      history: ({ tags }, event, lookup) => updateWorkspace(event, { tags: withTags(lookup, event.stream, tags) }),
    },
    WorkspaceUntagged: {
      schema: z.strictObject({ keys: z.array(z.string()) }),
      audit: { action: 'update', meta: ({ keys }) => ({ change: 'tags', removed: keys }) },
      live: 'changed',
      history: ({ keys }, event, lookup) => updateWorkspace(event, { tags: withoutTags(lookup, event.stream, keys) }),
    },
    RemoteStateConsumersAdded: {
      schema: z.strictObject({ workspaces: z.array(z.string()) }),
      audit: defineConsumerAudit('added'),
      live: 'changed',
      history: ({ workspaces }, event, lookup) =>
        updateWorkspace(event, {
          remoteStateConsumers: [...new Set([...getIds(lookup, event.stream, 'remoteStateConsumers'), ...workspaces])],
        }),
      ids: { refersTo: { 'workspaces[]': ['ws'] } },
    },
    RemoteStateConsumersRemoved: {
      schema: z.strictObject({ workspaces: z.array(z.string()) }),
      audit: defineConsumerAudit('removed'),
      live: 'changed',
      history: ({ workspaces }, event, lookup) =>
        updateWorkspace(event, {
          remoteStateConsumers: getIds(lookup, event.stream, 'remoteStateConsumers').filter(
            (id) => !workspaces.includes(id),
          ),
        }),
      ids: { refersTo: { 'workspaces[]': ['ws'] } },
    },
    StateVersionCreated: {
      schemaVersion: 2,
      upcast: { 1: [{ add: { rollbackOf: null } }] },
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
      live: stateVersion('created'),
      history: (_, { stream, time }) => updateSubject(stream, { latestChangeAt: time }),
      ids: { refersTo: { run: ['run'], rollbackOf: ['sv'] }, creates: { id: 'sv' } },
      personal: ({ createdBy }) => describePersonalName('createdBy', createdBy),
    },
    StateVersionFinalized: {
      schemaVersion: 2,
      // Version 1 was written for states in format 4 only, and had no lineage.
      upcast: { 1: [{ add: { format: 4, lineage: null } }] },
      schema: z.strictObject({ id: z.string(), ...stateFacts }),
      audit: { unaudited: 'the upload belongs to the creation, which has an entry' },
      live: stateVersion('changed'),
      history: ({ id, outputs }) =>
        createSubject(id, { outputs: outputs.map((output) => ({ id: output.id, name: output.name })) }),
      ids: { refersTo: { id: ['sv'] }, creates: { 'outputs[].id': 'wsout' } },
    },
    StateVersionPromoted: {
      schema: z.strictObject({ id: z.string(), resources: z.int() }),
      audit: { unaudited: 'happens with the unlock, which has an entry' },
      live: stateVersion('changed'),
      history: ({ id, resources }, event) =>
        updateWorkspace(event, { currentStateVersion: id, resourceCount: resources, stateChangedAt: event.time }),
      ids: { refersTo: { id: ['sv'] } },
    },
    StateVersionErrored: {
      schema: z.strictObject({ id: z.string() }),
      audit: { unaudited: 'the upload belongs to the creation, which has an entry' },
      live: stateVersion('changed'),
      ids: { refersTo: { id: ['sv'] } },
    },
    StateVersionDiscarded: {
      schema: z.strictObject({ id: z.string() }),
      audit: { unaudited: 'happens with a forced unlock or with the creation of the next version, which have entries' },
      live: stateVersion('changed'),
      ids: { refersTo: { id: ['sv'] } },
    },
  },
) satisfies EventKinds<WorkspaceEvent>;
