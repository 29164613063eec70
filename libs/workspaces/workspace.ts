import {
  checkName,
  conflict,
  differences,
  isNothing,
  notFound,
  type DataOf,
  type Decider,
  type Message,
} from '#kernel';
import { lockDecisions, lockEvolutions, type LockCommand, type LockEvent, type Lock } from './lock.js';
import {
  changesOf,
  checkSettings,
  DEFAULT_SETTINGS,
  NAME,
  type SettingsInput,
  type WorkspaceChanges,
  type WorkspaceSettings,
} from './settings.js';
import {
  NO_STATE,
  stateDecisions,
  stateEvolutions,
  type StateCommand,
  type StateEvent,
  type StateHead,
} from './state-head.js';
import {
  merge,
  replaceBindings,
  tagDecisions,
  tagEvolutions,
  type Tag,
  type TagCommand,
  type TagEvent,
} from './tags.js';

/**
 * A workspace: settings, tags, lock and the head of its state, in one stream, because they must agree: who holds the
 * lock may upload state, and unlocking makes the latest state current.
 *
 *   absent ──create──► active ──delete──► deleted
 *
 * Its parts, each with its own machine: lock.ts, state-head.ts, tags.ts, settings.ts.
 */
export type WorkspaceEvent =
  | Message<'WorkspaceCreated', { project: string; name: string; settings: WorkspaceSettings; tags: readonly Tag[] }>
  | Message<'WorkspaceUpdated', { changes: WorkspaceChanges }>
  | Message<'WorkspaceMoved', { from: string; to: string }>
  | Message<'WorkspaceDeleted', { name: string; project: string; forced: boolean }>
  | LockEvent
  | TagEvent
  | StateEvent;

export type WorkspaceCommand =
  | Message<'CreateWorkspace', { project: string; name: string; settings: SettingsInput; tags: readonly Tag[] }>
  | Message<
      'UpdateWorkspace',
      {
        changes: SettingsInput & { readonly name?: string };
        project?: string | undefined;
        bindings?: readonly Tag[] | undefined;
      }
    >
  | Message<'DeleteWorkspace', { forced: boolean }>
  | LockCommand
  | TagCommand
  | StateCommand;

export type ActiveWorkspace = {
  readonly status: 'active';
  readonly project: string;
  readonly name: string;
  readonly settings: WorkspaceSettings;
  readonly tags: readonly Tag[];
  readonly lock: Lock | null;
  readonly stateHead: StateHead;
};

export type Workspace = { readonly status: 'absent' | 'deleted' } | ActiveWorkspace;

type Later = Exclude<WorkspaceCommand, { type: 'CreateWorkspace' }>;

/** Every command but the first wants a workspace that is there. */
const whenActive =
  <D>(decide: (data: D, state: ActiveWorkspace) => readonly WorkspaceEvent[]) =>
  (data: D, state: Workspace): readonly WorkspaceEvent[] => {
    if (state.status !== 'active') throw notFound();
    return decide(data, state);
  };

const decideUpdate = (
  { changes, project, bindings }: DataOf<Later, 'UpdateWorkspace'>,
  state: ActiveWorkspace,
): readonly WorkspaceEvent[] => {
  const { name, ...settings } = changes;
  const wanted: WorkspaceChanges = { ...changesOf(state.settings, settings), ...(name === undefined ? {} : { name }) };
  const changed = differences({ ...state.settings, name: state.name }, wanted);
  if (changed.name !== undefined) checkName(changed.name, NAME);
  checkSettings({ ...state.settings, ...changed }, changed);
  const events: WorkspaceEvent[] = [];
  if (!isNothing(changed)) events.push({ type: 'WorkspaceUpdated', data: { changes: changed } });
  if (project && project !== state.project) {
    events.push({ type: 'WorkspaceMoved', data: { from: state.project, to: project } });
  }
  return bindings ? [...events, ...replaceBindings(bindings, state)] : events;
};

const decideDelete = (
  { forced }: DataOf<Later, 'DeleteWorkspace'>,
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

export const workspace: Decider<Workspace, WorkspaceCommand, WorkspaceEvent> = {
  version: 2,
  initial: { status: 'absent' },
  decide: {
    CreateWorkspace: ({ project, name, settings, tags }, state) => {
      if (state.status !== 'absent') throw conflict('Workspace exists already');
      checkName(name, NAME);
      const given = changesOf(DEFAULT_SETTINGS, settings);
      const all = { ...DEFAULT_SETTINGS, ...given };
      checkSettings(all, given);
      return [{ type: 'WorkspaceCreated', data: { project, name, settings: all, tags: merge(tags) } }];
    },
    UpdateWorkspace: whenActive(decideUpdate),
    DeleteWorkspace: whenActive(decideDelete),
    LockWorkspace: whenActive(lockDecisions.LockWorkspace),
    UnlockWorkspace: whenActive(lockDecisions.UnlockWorkspace),
    ForceUnlockWorkspace: whenActive(lockDecisions.ForceUnlockWorkspace),
    AddTags: whenActive(tagDecisions.AddTags),
    RemoveTags: whenActive(tagDecisions.RemoveTags),
    BindTags: whenActive(tagDecisions.BindTags),
    CreateStateVersion: whenActive(stateDecisions.CreateStateVersion),
    FinalizeStateVersion: whenActive(stateDecisions.FinalizeStateVersion),
  },
  evolve: {
    WorkspaceCreated: ({ project, name, settings, tags }) => ({
      status: 'active',
      project,
      name,
      settings,
      tags,
      lock: null,
      stateHead: NO_STATE,
    }),
    WorkspaceUpdated: ({ changes: { name, ...settings } }, state) =>
      state.status === 'active'
        ? { ...state, name: name ?? state.name, settings: { ...state.settings, ...settings } }
        : state,
    WorkspaceMoved: ({ to }, state) => (state.status === 'active' ? { ...state, project: to } : state),
    WorkspaceDeleted: () => ({ status: 'deleted' }),
    ...lockEvolutions,
    ...tagEvolutions,
    ...stateEvolutions,
  },
};
