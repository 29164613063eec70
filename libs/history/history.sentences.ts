import { mergeTags, withoutTags, type DataOf, type Recorded, type Tag } from '#kernel';
import type { OrganizationEvent, ProjectEvent } from '#organizations';
import { DELETE_OLDERS, DONT_DELETES, type DataRetentionPolicyEvent } from '#data-retention-policies';
import type { SshKeyEvent } from '#ssh-keys';
import type { ReservedTagKeyEvent } from '#tags';
import type { VariableEvent } from '#variables';
import type { WorkspaceEvent } from '#workspaces';
import type { Change, Known } from './chronicle.js';
import { configurations, runs } from './runs.sentences.js';
import { became, born, gone, type Sentences, type Told } from './sentences.js';
import type { Data } from './fields.js';

const organizations: Sentences<OrganizationEvent> = {
  OrganizationCreated: ({ name, email, featureSet, settings }, { stream }) =>
    born(stream, { ...settings, name, email, featureSet }),
  OrganizationUpdated: ({ changes }, { stream }) => became(stream, changes),
  OrganizationFeatureSetChanged: ({ featureSet }, { stream }) => became(stream, { featureSet }),
  OrganizationTokenTtlPoliciesChanged: null,
  OrganizationDeleted: (_, { stream }) => [{ forgotten: stream }],
};

const projects: Sentences<ProjectEvent> = {
  ProjectCreated: ({ name, description, settings }, { stream }) => born(stream, { ...settings, name, description }),
  ProjectUpdated: ({ changes }, { stream }) => became(stream, changes),
  ProjectTagBound: ({ key, to }, { stream }, known) =>
    became(stream, { tags: mergeTags(tagsOf(known, stream), [{ key, value: to }]) }),
  ProjectTagUnbound: ({ key }, { stream }, known) =>
    became(stream, { tags: withoutTags(tagsOf(known, stream), [key]) }),
  ProjectDeleted: (_, { stream }) => gone(stream),
};

/** Of each workspace; the keys are those of its settings and of its row. */
const UNTOUCHED = {
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

const tagsOf = (known: Known, workspace: string): readonly Tag[] =>
  (known.of(workspace)?.['tags'] ?? []) as readonly Tag[];
const idsIn = (known: Known, workspace: string, key: 'variables' | 'remoteStateConsumers'): readonly string[] =>
  (known.of(workspace)?.[key] ?? []) as readonly string[];

/** The lock that is held, as data knows it: with the id that its row has. */
const lockOf = (known: Known, workspace: string): { readonly id: string } | null =>
  (known.of(workspace)?.['lock'] ?? null) as { readonly id: string } | null;

/** By force it is somebody else who ends it. */
const unlocked = (known: Known, { stream, time, context, data }: Told, forced: boolean): readonly Change[] => {
  const lock = lockOf(known, stream);
  if (!lock) return [];
  const unlockedBy = forced ? context.accessor : (data as DataOf<WorkspaceEvent, 'WorkspaceUnlocked'>).holder;
  return [{ unlocking: { id: lock.id, unlockedAt: time, unlockedBy, forced } }];
};

const tagged = ({ stream, time }: Told, tags: readonly Tag[]): readonly Change[] =>
  became(stream, { tags, updatedAt: time });

const workspaces: Sentences<WorkspaceEvent> = {
  WorkspaceCreated: ({ project, name, settings, tags }, { stream, time }) =>
    born(stream, {
      ...settings,
      ...UNTOUCHED,
      name,
      project,
      tags,
      createdAt: time,
      updatedAt: time,
      latestChangeAt: time,
    }),
  WorkspaceUpdated: ({ changes }, { stream, time }) => became(stream, { ...changes, updatedAt: time }),
  WorkspaceMoved: ({ to }, { stream, time }) => became(stream, { project: to, updatedAt: time }),
  WorkspaceDeleted: (_, event, known) => [...unlocked(known, event, true), ...gone(event.stream)],
  WorkspaceSshKeyAssigned: ({ key }, { stream, time }) => became(stream, { sshKey: key, updatedAt: time }),
  WorkspaceSshKeyUnassigned: (_, { stream, time }) => became(stream, { sshKey: null, updatedAt: time }),
  WorkspaceLocked: ({ holder, reason }, { id, stream, organization, time }, known) => {
    if (!known.of(stream)) return [];
    return [
      ...became(stream, { lock: { id, holder, reason, at: time }, updatedAt: time }),
      { locking: { id, workspace: stream, organization, holder, reason, lockedAt: time } },
    ];
  },
  WorkspaceUnlocked: ({ forced }, event, known) => [
    ...unlocked(known, event, forced),
    ...became(event.stream, { lock: null, updatedAt: event.time }),
  ],
  WorkspaceTagAdded: ({ name }, event, known) =>
    tagged(event, mergeTags(tagsOf(known, event.stream), [{ key: name, value: null }])),
  WorkspaceTagRemoved: ({ name }, event, known) => tagged(event, withoutTags(tagsOf(known, event.stream), [name])),
  WorkspaceTagBound: ({ key, to }, event, known) =>
    tagged(event, mergeTags(tagsOf(known, event.stream), [{ key, value: to }])),
  WorkspaceTagUnbound: ({ key }, event, known) => tagged(event, withoutTags(tagsOf(known, event.stream), [key])),
  WorkspaceTagged: ({ tags }, event, known) => tagged(event, mergeTags(tagsOf(known, event.stream), tags)),
  WorkspaceUntagged: ({ keys }, event, known) => tagged(event, withoutTags(tagsOf(known, event.stream), keys)),
  RemoteStateConsumersAdded: ({ workspaces: added }, { stream, time }, known) => {
    const all = new Set([...idsIn(known, stream, 'remoteStateConsumers'), ...added]);
    return became(stream, { remoteStateConsumers: [...all], updatedAt: time });
  },
  RemoteStateConsumersRemoved: ({ workspaces: removed }, { stream, time }, known) => {
    const left = idsIn(known, stream, 'remoteStateConsumers').filter((id) => !removed.includes(id));
    return became(stream, { remoteStateConsumers: left, updatedAt: time });
  },
  StateVersionCreated: (_, { stream, time }) => became(stream, { latestChangeAt: time }),
  StateVersionFinalized: ({ id, outputs }) =>
    born(id, { outputs: outputs.map((output) => ({ id: output.id, name: output.name })) }),
  StateVersionDiscarded: null,
  StateVersionPromoted: ({ id, resources }, { stream, time }) =>
    became(stream, { currentStateVersion: id, resourceCount: resources, updatedAt: time }),
};

const variables: Sentences<VariableEvent> = {
  VariableCreated: ({ owner, key, category }, { stream }, known) => {
    if (owner.type !== 'workspaces') return [];
    return [
      ...born(stream, { workspace: owner.id, key, category }),
      ...became(owner.id, { variables: [...idsIn(known, owner.id, 'variables'), stream] }),
    ];
  },
  // What it is called and what it is for says where it stands in the list; its value is nobody's business here.
  VariableUpdated: ({ changes: { key, category } }, { stream }, known) => {
    if (!known.of(stream) || (key === undefined && category === undefined)) return [];
    return became(stream, { ...(key === undefined ? {} : { key }), ...(category === undefined ? {} : { category }) });
  },
  VariableDeleted: (_, { stream }, known) => {
    const workspace = known.of(stream)?.['workspace'] as string | undefined;
    if (workspace === undefined) return [];
    const left = idsIn(known, workspace, 'variables').filter((id) => id !== stream);
    return [...gone(stream), ...became(workspace, { variables: left })];
  },
};

const policy = (id: string, days: number | null): Data => ({
  dataRetentionPolicy: { type: days === null ? DONT_DELETES : DELETE_OLDERS, id, days },
});

const policies: Sentences<DataRetentionPolicyEvent> = {
  DataRetentionPolicySet: ({ target: { id }, deleteOlderThanDays }, { stream }) => [
    ...born(stream, { owner: id }),
    ...became(id, policy(stream, deleteOlderThanDays)),
  ],
  DataRetentionPolicyChanged: ({ deleteOlderThanDays }, { stream }, known) => {
    const owner = known.of(stream)?.['owner'] as string | undefined;
    return owner === undefined ? [] : became(owner, policy(stream, deleteOlderThanDays));
  },
  DataRetentionPolicyRemoved: (_, { stream }, known) => {
    const owner = known.of(stream)?.['owner'] as string | undefined;
    return owner === undefined ? [] : [...gone(stream), ...became(owner, { dataRetentionPolicy: null })];
  },
};

const sshKeys: Sentences<SshKeyEvent> = {
  SshKeyCreated: null,
  SshKeyRenamed: null,
  SshKeyReplaced: null,
  SshKeyDeleted: (_, { stream }, known) => known.usersOf(stream).flatMap((id) => became(id, { sshKey: null })),
};

/** Reserved tag keys decide which bindings of workspaces are shown as forbidden. */
const reservedTagKeys: Sentences<ReservedTagKeyEvent> = {
  ReservedTagKeyCreated: (facts, { stream }) => born(stream, facts),
  ReservedTagKeyUpdated: ({ to }, { stream }) => became(stream, to),
  ReservedTagKeyDeleted: (_, { stream }) => gone(stream),
};

/** What every event means for the history. */
const SENTENCES: Readonly<Record<string, ((data: never, event: Told, known: Known) => readonly Change[]) | null>> = {
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

/** Types of the events that mean something. */
export const MEANINGFUL: readonly string[] = Object.keys(SENTENCES).filter((type) => SENTENCES[type] !== null);

export const changesBy = (event: Told, known: Known): readonly Change[] =>
  SENTENCES[event.type]?.(event.data as never, event, known) ?? [];

/** The subjects that an event is about, by name. */
export const namedBy = ({ stream, data }: Recorded): readonly string[] => {
  const { workspace, owner, target } = data as { workspace?: string; owner?: { id: string }; target?: { id: string } };
  return [stream, workspace, owner?.id, target?.id].filter((id) => id !== undefined);
};
