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
  type Timestamp,
  type WorkspaceEnd,
} from '#platform/kernel';
import { lockDecisions, lockEvolutions, unlock, type LockCommand, type LockEvent } from '../lock/lock.js';
import { recoveryDecisions, type RecoveryCommand, type RecoveryEvent } from './recovery.js';
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
  type VcsRepo,
  type WorkspaceChanges,
  type WorkspaceSettings,
  type WorkspaceUpdated,
} from '../settings/workspace-settings.js';
import { stateDecisions, stateEvolutions, type StateCommand, type StateEvent } from './state-head.js';
import { NO_STATE, type ActiveWorkspace, type WorkspaceSshKeyEvent, type WorkspaceState } from './workspace-state.js';
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
 * The decider of a workspace: settings, tags, lock and the head of its state in one stream, because they must agree:
 * only the holder of the lock may upload state, and unlocking makes the latest state current.
 *
 * absent ──create──► active ──delete──► deleted ──recover──► active
 *
 * The rules are split over lock.ts, state-head.ts, tags.ts, settings.ts, remote-state-consumers.ts and recovery.ts, each
 * with its own state machine.
 */
export type WorkspaceEvent =
  | Message<'WorkspaceCreated', { project: string; name: string; settings: WorkspaceSettings; tags: readonly Tag[] }>
  | WorkspaceUpdated
  | Message<'WorkspaceRepositoryConnected', { identifier: string }>
  | Message<'WorkspaceMoved', { from: string; to: string }>
  | WorkspaceEnd
  | RecoveryEvent
  | WorkspaceSshKeyEvent
  | LockEvent
  | TagEvent
  | StateEvent
  | ConsumerEvent;

/** Facts that the rules need besides the stream; left out if the request references nothing that they concern. */
export type WorkspaceDecisionContext = {
  /** Keys that workspaces of the project after the command may not bind. */
  readonly fixed?: readonly FixedTagKey[];
  /** The execution mode of a workspace in that project that has no mode of its own. */
  readonly followedMode?: ExecutionMode;
  /** The named remote state consumers. */
  readonly consumers?: readonly string[];
  /** The problem with the requested tool version. It is ignored if the workspace already has that version. */
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
        /** Location of the move in the request; default: the project of the workspace document. */
        movedAt?: string;
        /** Replace the present bindings (computeBindingChanges). */
        bindings?: readonly Tag[] | undefined;
      }
    >
  /** `recoverableUntil`: null if the deletion is final. */
  | Message<'DeleteWorkspace', { forced: boolean; recoverableUntil: Timestamp | null }>
  /** Null removes the present key. */
  | Message<'AssignSshKey', { key: string | null }>
  | LockCommand
  | TagCommand
  | StateCommand
  | ConsumerCommand
  | RecoveryCommand;

type ExistingWorkspaceDecision = Exclude<WorkspaceCommand, { type: 'CreateWorkspace' }>;

/** Refuses a command unless the workspace is active, and passes its state to the decision. */
const whenActive =
  <D>(decide: (data: D, state: ActiveWorkspace) => readonly WorkspaceEvent[]) =>
  (data: D, state: WorkspaceState): readonly WorkspaceEvent[] =>
    decide(data, requireActive(state));

/** The settings of a request, the resulting changes, and all settings after them. */
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

/** Checks that need only the request. */
const checkRequest = ({
  name,
  autoDestroyActivityDuration,
}: SettingsInput & { readonly name: string | undefined }): void =>
  runAllChecks(
    () => name !== undefined && checkName(name, NAME_RULE),
    () => checkAutoDestroyDuration(autoDestroyActivityDuration),
  );

/** Returns the event of a workspace that gets another repository, or reads it with another connection. */
const connectRepository = (before: VcsRepo | null, after: VcsRepo | null | undefined): readonly WorkspaceEvent[] => {
  if (!after) return [];
  const isSame =
    after.identifier === before?.identifier &&
    after.oauthTokenId === before.oauthTokenId &&
    after.vcsAppInstallationId === before.vcsAppInstallationId;
  return isSame ? [] : [{ type: 'WorkspaceRepositoryConnected', data: { identifier: after.identifier } }];
};

const decideUpdate = (
  { changes, project, bindings, movedAt, ...context }: DataOf<ExistingWorkspaceDecision, 'UpdateWorkspace'>,
  state: ActiveWorkspace,
): readonly WorkspaceEvent[] => {
  const { name, ...settings } = changes;
  const changedSettings = collectRefusals(
    () => resolveSettingChanges(state.settings, settings),
    () => checkRequest({ ...settings, name: name === state.name ? undefined : name }),
  );
  const requestedChanges: WorkspaceChanges = { ...changedSettings, ...(name === undefined ? {} : { name }) };
  const changed = pickChanged({ ...state.settings, name: state.name }, requestedChanges);
  checkChanges(
    { input: settings, changes: requestedChanges, changed, all: { ...state.settings, ...changed } },
    context,
  );
  const events: WorkspaceEvent[] = [];
  if (!hasNoChanges(changed)) events.push({ type: 'WorkspaceUpdated', data: { changes: changed } });
  events.push(...connectRepository(state.settings.vcsRepo, changed.vcsRepo));
  events.push(...decideConsumerChanges(changed, context.consumers ?? []));
  const moves = Boolean(project) && project !== state.project;
  if (moves && project) events.push({ type: 'WorkspaceMoved', data: { from: state.project, to: project } });
  const fixed = context.fixed ?? [];
  if (bindings)
    events.push(...decideBindings(state.tags, { bindings, mode: 'replacing', at: BINDING_POINTERS.bindings }, fixed));
  if (moves) checkMovedTags(state.tags, { bindings, movedAt }, fixed);
  return events;
};

const decideDelete = (
  { forced, recoverableUntil }: DataOf<ExistingWorkspaceDecision, 'DeleteWorkspace'>,
  { name, project, lock, stateHead }: ActiveWorkspace,
): readonly WorkspaceEvent[] => {
  if (!forced) {
    // Clients look for `locked` and `being processed`; the third text must have neither.
    if (lock) throw conflict('Workspace cannot be safely deleted because it is locked');
    if (stateHead.latest?.status === 'pending') {
      throw conflict('Workspace cannot be safely deleted because its latest state version is being processed');
    }
    if (stateHead.resources > 0) {
      throw conflict(`Workspace cannot be safely deleted because it manages ${stateHead.resources} resources`);
    }
  }
  return [{ type: 'WorkspaceDeleted', data: { name, project, forced, recoverableUntil } }];
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
  // A snapshot contains all settings, so its version rises with each new setting and older snapshots are ignored.
  version: 7 + WORKSPACE_SETTINGS.version,
  initial: { status: 'absent' },
  decide: {
    CreateWorkspace: ({ project, name, settings, names, bindings, ...context }, state) => {
      if (state.status !== 'absent') throw conflict('Workspace exists already');
      const initialSettings = collectRefusals(
        () => resolveSettingChanges(DEFAULT_SETTINGS, settings),
        () => checkRequest({ ...settings, name }),
      );
      const all = { ...DEFAULT_SETTINGS, ...initialSettings };
      checkChanges({ input: settings, changes: initialSettings, changed: { ...initialSettings, name }, all }, context);
      const tags = createInitialTags({ names, bindings }, context.fixed ?? []);
      return [
        { type: 'WorkspaceCreated', data: { project, name, settings: all, tags } },
        ...connectRepository(null, all.vcsRepo),
      ];
    },
    UpdateWorkspace: whenActive(decideUpdate),
    DeleteWorkspace: whenActive(decideDelete),
    AssignSshKey: whenActive(decideSshKey),
    LockWorkspace: whenActive(lockDecisions.LockWorkspace),
    RenewLock: whenActive(lockDecisions.RenewLock),
    UnlockWorkspace: whenActive(lockDecisions.UnlockWorkspace),
    ForceUnlockWorkspace: whenActive(lockDecisions.ForceUnlockWorkspace),
    ExpireLock: whenActive(lockDecisions.ExpireLock),
    AddTags: whenActive(tagDecisions.AddTags),
    RemoveTags: whenActive(tagDecisions.RemoveTags),
    BindTags: whenActive(tagDecisions.BindTags),
    CreateStateVersion: whenActive(stateDecisions.CreateStateVersion),
    FinalizeStateVersion: whenActive(stateDecisions.FinalizeStateVersion),
    FailStateVersion: whenActive(stateDecisions.FailStateVersion),
    AddRemoteStateConsumers: whenActive(consumerDecisions.AddRemoteStateConsumers),
    RemoveRemoteStateConsumers: whenActive(consumerDecisions.RemoveRemoteStateConsumers),
    ReplaceRemoteStateConsumers: whenActive(consumerDecisions.ReplaceRemoteStateConsumers),
    ...recoveryDecisions,
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
    WorkspaceRepositoryConnected: (_, state) => state,
    WorkspaceMoved: ({ to }, state) => (state.status === 'active' ? { ...state, project: to } : state),
    WorkspaceDeleted: ({ recoverableUntil }, state) => ({
      status: 'deleted',
      last: recoverableUntil !== null && state.status === 'active' ? unlock(state) : null,
    }),
    WorkspacePurged: () => ({ status: 'deleted', last: null }),
    WorkspaceRecovered: ({ name, project }, state) =>
      state.status === 'deleted' && state.last ? { ...state.last, name, project } : state,
    WorkspaceSshKeyAssigned: ({ key }, state) => (state.status === 'active' ? { ...state, sshKey: key } : state),
    WorkspaceSshKeyUnassigned: (_, state) => (state.status === 'active' ? { ...state, sshKey: null } : state),
    ...lockEvolutions,
    ...tagEvolutions,
    ...stateEvolutions,
    ...consumerEvolutions,
  },
  people: (state) => (state.status === 'active' ? listNamedPeople(state.lock?.holder) : []),
};
