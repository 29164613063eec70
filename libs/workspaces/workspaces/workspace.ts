import {
  BINDING_POINTERS,
  checkAutoDestroyDuration,
  checkName,
  collectRefusals,
  conflict,
  hasNoChanges,
  listNamedPeople,
  pickChanged,
  Refusal,
  requireActive,
  runAllChecks,
  type DataOf,
  type Decider,
  type ExecutionMode,
  type Message,
  type Problem,
  type Tag,
  type WorkspaceDeleted,
} from '#kernel';
import { lockDecisions, lockEvolutions, type LockCommand, type LockEvent } from '../lock/lock.js';
import {
  decideConsumerChanges,
  consumerDecisions,
  consumerEvolutions,
  type ConsumerCommand,
  type ConsumerEvent,
} from '../remote-state-consumers/remote-state-consumers.js';
import { resolveSettingChanges, checkSettings, DEFAULT_SETTINGS, NAME_RULE } from '../settings/settings.js';
import {
  WORKSPACE_SETTINGS,
  type SettingsInput,
  type WorkspaceChanges,
  type WorkspaceSettings,
} from '../settings/workspace-settings.js';
import { stateDecisions, stateEvolutions, type StateCommand, type StateEvent } from './state-head.js';
import { NO_STATE, type ActiveWorkspace, type WorkspaceState } from './workspace-state.js';
import {
  decideBindings,
  checkMovedTags,
  tagDecisions,
  tagEvolutions,
  createInitialTags,
  type FixedTagKey,
  type NewTags,
  type TagCommand,
  type TagEvent,
} from '../tags/tags.js';

/**
 * A workspace: settings, tags, lock and the head of its state, in one stream, because they must agree: who holds the
 * lock may upload state, and unlocking makes the latest state current.
 *
 *   absent ──create──► active ──delete──► deleted
 *
 * Its parts, each with its own machine: lock.ts, state-head.ts, tags.ts, settings.ts, remote-state-consumers.ts.
 */
export type WorkspaceEvent =
  | Message<'WorkspaceCreated', { project: string; name: string; settings: WorkspaceSettings; tags: readonly Tag[] }>
  | Message<'WorkspaceUpdated', { changes: WorkspaceChanges }>
  | Message<'WorkspaceMoved', { from: string; to: string }>
  | WorkspaceDeleted
  | Message<'WorkspaceSshKeyAssigned', { key: string }>
  | Message<'WorkspaceSshKeyUnassigned', { key: string }>
  | LockEvent
  | TagEvent
  | StateEvent
  | ConsumerEvent;

/** What the rules ask beyond the stream; left out where the request names nothing that they are about. */
export type WorkspaceDecisionContext = {
  /** Keys that the project, which it is in after the command, lets no workspace bind. */
  readonly fixed?: readonly FixedTagKey[];
  /** The execution mode that a workspace there has while it has none of its own. */
  readonly followedMode?: ExecutionMode;
  /** The named remote state consumers. */
  readonly consumers?: readonly string[];
  /** What is wrong with the version of the tool that is named; it hurts nobody who has that version already. */
  readonly versionProblem?: Problem;
};

export type WorkspaceCommand =
  | Message<
      'CreateWorkspace',
      WorkspaceDecisionContext & NewTags & { project: string; name: string; settings: SettingsInput }
    >
  | Message<
      'UpdateWorkspace',
      WorkspaceDecisionContext & {
        changes: SettingsInput & { readonly name?: string };
        project?: string | undefined;
        /** Where the request says that it moves; the project that its document names where this is missing. */
        movedAt?: string;
        /** They replace the bindings that it has (computeBindingChanges). */
        bindings?: readonly Tag[] | undefined;
      }
    >
  | Message<'DeleteWorkspace', { forced: boolean }>
  /** Null takes away the one that it has. */
  | Message<'AssignSshKey', { key: string | null }>
  | LockCommand
  | TagCommand
  | StateCommand
  | ConsumerCommand;

type ExistingWorkspaceDecision = Exclude<WorkspaceCommand, { type: 'CreateWorkspace' }>;

/** Adapts a decision about an existing workspace to the states of the decider. */
const whenActive =
  <D>(decide: (data: D, state: ActiveWorkspace) => readonly WorkspaceEvent[]) =>
  (data: D, state: WorkspaceState): readonly WorkspaceEvent[] =>
    decide(data, requireActive(state));

/** What a request says, what it makes of the settings, what of that is new, and how all of them are then. */
type SettingsRequest = {
  readonly input: SettingsInput;
  readonly changes: WorkspaceChanges;
  readonly changed: WorkspaceChanges;
  readonly all: WorkspaceSettings;
};

const checkChanges = (
  { input, changes, changed, all }: SettingsRequest,
  { followedMode = 'remote', versionProblem }: WorkspaceDecisionContext,
): void => {
  runAllChecks(
    () => changed.name !== undefined && checkName(changed.name, NAME_RULE),
    () => checkAutoDestroyDuration(input.autoDestroyActivityDuration),
    () => checkSettings(all, changes, followedMode),
    () => {
      if (versionProblem && changed.terraformVersion !== undefined)
        throw new Refusal('unprocessable', [versionProblem]);
    },
  );
};

/** The checks that need only the request. */
const checkRequest = ({
  name,
  autoDestroyActivityDuration,
}: SettingsInput & { readonly name: string | undefined }): void =>
  runAllChecks(
    () => name !== undefined && checkName(name, NAME_RULE),
    () => checkAutoDestroyDuration(autoDestroyActivityDuration),
  );

const decideUpdate = (
  { changes, project, bindings, movedAt, ...around }: DataOf<ExistingWorkspaceDecision, 'UpdateWorkspace'>,
  state: ActiveWorkspace,
): readonly WorkspaceEvent[] => {
  const { name, ...settings } = changes;
  const made = collectRefusals(
    () => resolveSettingChanges(state.settings, settings),
    () => checkRequest({ ...settings, name: name === state.name ? undefined : name }),
  );
  const wanted: WorkspaceChanges = { ...made, ...(name === undefined ? {} : { name }) };
  const changed = pickChanged({ ...state.settings, name: state.name }, wanted);
  checkChanges({ input: settings, changes: wanted, changed, all: { ...state.settings, ...changed } }, around);
  const events: WorkspaceEvent[] = [];
  if (!hasNoChanges(changed)) events.push({ type: 'WorkspaceUpdated', data: { changes: changed } });
  events.push(...decideConsumerChanges(changed, around.consumers ?? []));
  const moves = Boolean(project) && project !== state.project;
  if (moves && project) events.push({ type: 'WorkspaceMoved', data: { from: state.project, to: project } });
  const fixed = around.fixed ?? [];
  if (bindings)
    events.push(...decideBindings(state.tags, { bindings, mode: 'replacing', at: BINDING_POINTERS.bindings }, fixed));
  if (moves) checkMovedTags(state.tags, { bindings, movedAt }, fixed);
  return events;
};

const decideDelete = (
  { forced }: DataOf<ExistingWorkspaceDecision, 'DeleteWorkspace'>,
  { name, project, lock, stateHead }: ActiveWorkspace,
): readonly WorkspaceEvent[] => {
  if (!forced) {
    // Clients look for `locked` and `being processed`; the third text must have neither (clients.md §2).
    if (lock) throw conflict('Workspace cannot be safely deleted because it is locked');
    if (stateHead.latest?.status === 'pending') {
      throw conflict('Workspace cannot be safely deleted because its latest state version is being processed');
    }
    if (stateHead.resources > 0) {
      throw conflict(`Workspace cannot be safely deleted because it manages ${stateHead.resources} resources`);
    }
  }
  return [{ type: 'WorkspaceDeleted', data: { name, project, forced } }];
};

const decideSshKey = (
  { key }: DataOf<ExistingWorkspaceDecision, 'AssignSshKey'>,
  { sshKey }: ActiveWorkspace,
): readonly WorkspaceEvent[] => {
  if (key === sshKey) return [];
  if (key !== null) return [{ type: 'WorkspaceSshKeyAssigned', data: { key } }];
  return sshKey === null ? [] : [{ type: 'WorkspaceSshKeyUnassigned', data: { key: sshKey } }];
};

export const workspace: Decider<WorkspaceState, WorkspaceCommand, WorkspaceEvent> = {
  // The state contains all settings, so a new setting makes older snapshots unusable.
  version: 5 + WORKSPACE_SETTINGS.version,
  initial: { status: 'absent' },
  decide: {
    CreateWorkspace: ({ project, name, settings, names, bindings, ...around }, state) => {
      if (state.status !== 'absent') throw conflict('Workspace exists already');
      const given = collectRefusals(
        () => resolveSettingChanges(DEFAULT_SETTINGS, settings),
        () => checkRequest({ ...settings, name }),
      );
      const all = { ...DEFAULT_SETTINGS, ...given };
      checkChanges({ input: settings, changes: given, changed: { ...given, name }, all }, around);
      const tags = createInitialTags({ names, bindings }, around.fixed ?? []);
      return [{ type: 'WorkspaceCreated', data: { project, name, settings: all, tags } }];
    },
    UpdateWorkspace: whenActive(decideUpdate),
    DeleteWorkspace: whenActive(decideDelete),
    AssignSshKey: whenActive(decideSshKey),
    LockWorkspace: whenActive(lockDecisions.LockWorkspace),
    UnlockWorkspace: whenActive(lockDecisions.UnlockWorkspace),
    ForceUnlockWorkspace: whenActive(lockDecisions.ForceUnlockWorkspace),
    AddTags: whenActive(tagDecisions.AddTags),
    RemoveTags: whenActive(tagDecisions.RemoveTags),
    BindTags: whenActive(tagDecisions.BindTags),
    CreateStateVersion: whenActive(stateDecisions.CreateStateVersion),
    FinalizeStateVersion: whenActive(stateDecisions.FinalizeStateVersion),
    AddRemoteStateConsumers: whenActive(consumerDecisions.AddRemoteStateConsumers),
    RemoveRemoteStateConsumers: whenActive(consumerDecisions.RemoveRemoteStateConsumers),
    ReplaceRemoteStateConsumers: whenActive(consumerDecisions.ReplaceRemoteStateConsumers),
  },
  evolve: {
    WorkspaceCreated: ({ project, name, settings, tags }) => ({
      status: 'active',
      project,
      name,
      settings,
      tags,
      sshKey: null,
      lock: null,
      stateHead: NO_STATE,
    }),
    WorkspaceUpdated: ({ changes: { name, ...settings } }, state) =>
      state.status === 'active'
        ? { ...state, name: name ?? state.name, settings: { ...state.settings, ...settings } }
        : state,
    WorkspaceMoved: ({ to }, state) => (state.status === 'active' ? { ...state, project: to } : state),
    WorkspaceDeleted: () => ({ status: 'deleted' }),
    WorkspaceSshKeyAssigned: ({ key }, state) => (state.status === 'active' ? { ...state, sshKey: key } : state),
    WorkspaceSshKeyUnassigned: (_, state) => (state.status === 'active' ? { ...state, sshKey: null } : state),
    ...lockEvolutions,
    ...tagEvolutions,
    ...stateEvolutions,
    ...consumerEvolutions,
  },
  people: (state) => (state.status === 'active' ? listNamedPeople(state.lock?.holder) : []),
};
