import { mergeTags, removeTags, type RecordedEvent, type Tag, type Timestamp } from '#kernel';
import type { OrganizationEvent, ProjectEvent } from '#organizations';
import { DELETE_OLDERS, DONT_DELETES, type DataRetentionPolicyEvent } from '#data-retention-policies';
import type { SshKeyEvent } from '#ssh-keys';
import type { ReservedTagKeyEvent } from '#tags';
import type { VariableEvent } from '#variables';
import type { WorkspaceEvent } from '#workspaces';
import { LOCK_ENDED, LOCK_ENDED_BY_FORCE, LOCK_STARTED } from './history.field-codes.js';
import type { HistoryChange, HistoryLookup } from './history-writer.js';
import { configurations, runs } from './run-history.handlers.js';
import {
  updateSubject,
  createSubject,
  endSubject,
  type HistoryHandlers,
  type OrganizationRecordedEvent,
} from './history-handlers.js';
import type { SubjectData } from './history-fields.js';

const organizations: HistoryHandlers<OrganizationEvent> = {
  OrganizationCreated: ({ name, email, featureSet, settings }, { stream }) =>
    createSubject(stream, { ...settings, name, email, featureSet }),
  OrganizationUpdated: ({ changes }, { stream }) => updateSubject(stream, changes),
  OrganizationFeatureSetChanged: ({ featureSet }, { stream }) => updateSubject(stream, { featureSet }),
  OrganizationTokenTtlPoliciesChanged: null,
  OrganizationImported: null,
  OrganizationDeleted: (_, { stream }) => [{ forgotten: stream }],
};

const projects: HistoryHandlers<ProjectEvent> = {
  ProjectCreated: ({ name, description, settings }, { stream }) =>
    createSubject(stream, { ...settings, name, description }),
  ProjectUpdated: ({ changes }, { stream }) => updateSubject(stream, changes),
  ProjectTagBound: ({ key, to }, { stream }, lookup) =>
    updateSubject(stream, { tags: mergeTags(getTags(lookup, stream), [{ key, value: to }]) }),
  ProjectTagUnbound: ({ key }, { stream }, lookup) =>
    updateSubject(stream, { tags: removeTags(getTags(lookup, stream), [key]) }),
  ProjectDeleted: (_, { stream }) => endSubject(stream),
};

/** Initial data of every workspace, with the keys of its settings and of its row. */
const NEW_WORKSPACE_DATA = {
  lock: null,
  sshKey: null,
  dataRetentionPolicy: null,
  remoteStateConsumers: [],
  currentStateVersion: null,
  resourceCount: 0,
  currentRun: null,
  currentConfigurationVersion: null,
  currentConfigurationSince: null,
  variables: [],
} as const;

const getTags = (lookup: HistoryLookup, workspace: string): readonly Tag[] =>
  (lookup.of(workspace)?.['tags'] ?? []) as readonly Tag[];
const getIds = (
  lookup: HistoryLookup,
  workspace: string,
  key: 'variables' | 'remoteStateConsumers',
): readonly string[] => (lookup.of(workspace)?.[key] ?? []) as readonly string[];

/** Ends the current lock of the workspace, if it has one. `end` creates the version that ends it. */
const toUnlockChanges = (
  lookup: HistoryLookup,
  { stream, organization }: OrganizationRecordedEvent,
  forced: boolean,
  end: (marks: readonly string[]) => readonly HistoryChange[],
): readonly HistoryChange[] => {
  const lock = (lookup.of(stream)?.['lock'] ?? null) as { readonly at: Timestamp } | null;
  if (!lock) return end([]);
  return [
    { unlocking: { workspace: stream, organization, lockedAt: lock.at } },
    ...end([LOCK_ENDED, ...(forced ? [LOCK_ENDED_BY_FORCE] : [])]),
  ];
};

const toTagChanges = ({ stream, time }: OrganizationRecordedEvent, tags: readonly Tag[]): readonly HistoryChange[] =>
  updateSubject(stream, { tags, updatedAt: time });

const workspaces: HistoryHandlers<WorkspaceEvent> = {
  WorkspaceCreated: ({ project, name, settings, tags }, { stream, time }) =>
    createSubject(stream, {
      ...settings,
      ...NEW_WORKSPACE_DATA,
      name,
      project,
      tags,
      createdAt: time,
      updatedAt: time,
      latestChangeAt: time,
    }),
  WorkspaceUpdated: ({ changes }, { stream, time }) => updateSubject(stream, { ...changes, updatedAt: time }),
  WorkspaceMoved: ({ to }, { stream, time }) => updateSubject(stream, { project: to, updatedAt: time }),
  WorkspaceDeleted: (_, event, lookup) =>
    toUnlockChanges(lookup, event, true, (marks) => endSubject(event.stream, marks)),
  WorkspaceSshKeyAssigned: ({ key }, { stream, time }) => updateSubject(stream, { sshKey: key, updatedAt: time }),
  WorkspaceSshKeyUnassigned: (_, { stream, time }) => updateSubject(stream, { sshKey: null, updatedAt: time }),
  WorkspaceLocked: ({ holder, reason }, { id, stream, organization, time }, lookup) => {
    if (!lookup.of(stream)) return [];
    return [
      ...updateSubject(stream, { lock: { holder, reason, at: time }, updatedAt: time }, [LOCK_STARTED]),
      { locking: { id, workspace: stream, organization, lockedAt: time } },
    ];
  },
  WorkspaceUnlocked: ({ forced }, event, lookup) =>
    toUnlockChanges(lookup, event, forced, (marks) =>
      updateSubject(event.stream, { lock: null, updatedAt: event.time }, marks),
    ),
  WorkspaceTagAdded: ({ name }, event, lookup) =>
    toTagChanges(event, mergeTags(getTags(lookup, event.stream), [{ key: name, value: null }])),
  WorkspaceTagRemoved: ({ name }, event, lookup) =>
    toTagChanges(event, removeTags(getTags(lookup, event.stream), [name])),
  WorkspaceTagBound: ({ key, to }, event, lookup) =>
    toTagChanges(event, mergeTags(getTags(lookup, event.stream), [{ key, value: to }])),
  WorkspaceTagUnbound: ({ key }, event, lookup) =>
    toTagChanges(event, removeTags(getTags(lookup, event.stream), [key])),
  WorkspaceTagged: ({ tags }, event, lookup) => toTagChanges(event, mergeTags(getTags(lookup, event.stream), tags)),
  WorkspaceUntagged: ({ keys }, event, lookup) => toTagChanges(event, removeTags(getTags(lookup, event.stream), keys)),
  RemoteStateConsumersAdded: ({ workspaces: added }, { stream, time }, lookup) => {
    const all = new Set([...getIds(lookup, stream, 'remoteStateConsumers'), ...added]);
    return updateSubject(stream, { remoteStateConsumers: [...all], updatedAt: time });
  },
  RemoteStateConsumersRemoved: ({ workspaces: removed }, { stream, time }, lookup) => {
    const remaining = getIds(lookup, stream, 'remoteStateConsumers').filter((id) => !removed.includes(id));
    return updateSubject(stream, { remoteStateConsumers: remaining, updatedAt: time });
  },
  StateVersionCreated: (_, { stream, time }) => updateSubject(stream, { latestChangeAt: time }),
  StateVersionFinalized: ({ id, outputs }) =>
    createSubject(id, { outputs: outputs.map((output) => ({ id: output.id, name: output.name })) }),
  StateVersionDiscarded: null,
  StateVersionErrored: null,
  StateVersionPromoted: ({ id, resources }, { stream, time }) =>
    updateSubject(stream, { currentStateVersion: id, resourceCount: resources, updatedAt: time }),
};

const variables: HistoryHandlers<VariableEvent> = {
  VariableCreated: ({ owner, key, category }, { stream }, lookup) => {
    if (owner.type !== 'workspaces') return [];
    return [
      ...createSubject(stream, { workspace: owner.id, key, category }),
      ...updateSubject(owner.id, { variables: [...getIds(lookup, owner.id, 'variables'), stream] }),
    ];
  },
  // Key and category determine the position in the list. The history never contains values of variables.
  VariableUpdated: ({ changes: { key, category } }, { stream }, lookup) => {
    if (!lookup.of(stream) || (key === undefined && category === undefined)) return [];
    return updateSubject(stream, {
      ...(key === undefined ? {} : { key }),
      ...(category === undefined ? {} : { category }),
    });
  },
  VariableDeleted: (_, { stream }, lookup) => {
    const workspace = lookup.of(stream)?.['workspace'] as string | undefined;
    if (workspace === undefined) return [];
    const remaining = getIds(lookup, workspace, 'variables').filter((id) => id !== stream);
    return [...endSubject(stream), ...updateSubject(workspace, { variables: remaining })];
  },
};

const toPolicyData = (id: string, days: number | null): SubjectData => ({
  dataRetentionPolicy: { type: days === null ? DONT_DELETES : DELETE_OLDERS, id, days },
});

const policies: HistoryHandlers<DataRetentionPolicyEvent> = {
  DataRetentionPolicySet: ({ target: { id }, deleteOlderThanDays }, { stream }) => [
    ...createSubject(stream, { owner: id }),
    ...updateSubject(id, toPolicyData(stream, deleteOlderThanDays)),
  ],
  DataRetentionPolicyChanged: ({ deleteOlderThanDays }, { stream }, lookup) => {
    const owner = lookup.of(stream)?.['owner'] as string | undefined;
    return owner === undefined ? [] : updateSubject(owner, toPolicyData(stream, deleteOlderThanDays));
  },
  DataRetentionPolicyRemoved: (_, { stream }, lookup) => {
    const owner = lookup.of(stream)?.['owner'] as string | undefined;
    return owner === undefined ? [] : [...endSubject(stream), ...updateSubject(owner, { dataRetentionPolicy: null })];
  },
};

const sshKeys: HistoryHandlers<SshKeyEvent> = {
  SshKeyCreated: null,
  SshKeyRenamed: null,
  SshKeyReplaced: null,
  SshKeyDeleted: (_, { stream }, lookup) => lookup.usersOf(stream).flatMap((id) => updateSubject(id, { sshKey: null })),
};

/** Reserved tag keys determine which bindings of workspaces are shown as forbidden. */
const reservedTagKeys: HistoryHandlers<ReservedTagKeyEvent> = {
  ReservedTagKeyCreated: (facts, { stream }) => createSubject(stream, facts),
  ReservedTagKeyUpdated: ({ to }, { stream }) => updateSubject(stream, to),
  ReservedTagKeyDeleted: (_, { stream }) => endSubject(stream),
};

/** Handlers of all events that change the history. */
const HISTORY_HANDLERS: Readonly<
  Record<
    string,
    ((data: never, event: OrganizationRecordedEvent, lookup: HistoryLookup) => readonly HistoryChange[]) | null
  >
> = {
  ...organizations,
  ...projects,
  ...workspaces,
  ...variables,
  ...runs,
  ...configurations,
  ...policies,
  ...sshKeys,
  ...reservedTagKeys,
};

export const HISTORY_EVENT_TYPES: readonly string[] = Object.keys(HISTORY_HANDLERS).filter(
  (type) => HISTORY_HANDLERS[type] !== null,
);

export const toHistoryChanges = (event: OrganizationRecordedEvent, lookup: HistoryLookup): readonly HistoryChange[] =>
  HISTORY_HANDLERS[event.type]?.(event.data as never, event, lookup) ?? [];

export const listSubjects = ({ stream, data }: RecordedEvent): readonly string[] => {
  const { workspace, owner, target } = data as { workspace?: string; owner?: { id: string }; target?: { id: string } };
  return [stream, workspace, owner?.id, target?.id].filter((id) => id !== undefined);
};
