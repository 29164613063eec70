import {
  applyBindingChanges,
  BINDING_POINTERS,
  checkAutoDestroyDuration,
  checkName,
  computeBindingChanges,
  conflict,
  decidePurge,
  hasNoChanges,
  checkBindingCount,
  pickChanged,
  requireActive,
  requireDeleted,
  runAllChecks,
  toDeletedState,
  unprocessable,
  type BindingChange,
  type BindingMode,
  type Decider,
  type Message,
  type ProjectEnd,
  type ProjectRecovered,
  type PurgeCommandData,
  type RecoverableState,
  type Tag,
  type Timestamp,
} from '#platform/kernel';
import { checkExecutionDefaults, resolveDefaultPool } from '../organizations/execution-defaults.js';
import { PROJECT_SETTINGS, type ProjectSettings } from './project-settings.js';

/**
 * Name of the project that every organization is created with. It contains the workspaces whose request names no
 * project.
 */
export const DEFAULT_PROJECT = 'Default Project';

export const DEFAULT_PROJECT_SETTINGS: ProjectSettings = PROJECT_SETTINGS.initial;

type ProjectChanges = Partial<ProjectSettings & { readonly name: string; readonly description: string | null }>;

/** `follows`: true if the project uses the organization's defaults, false if it needs its own. */
export type ProjectInput = ProjectChanges & { readonly follows?: boolean };

export type ProjectEvent =
  | Message<'ProjectCreated', { name: string; description: string | null; settings: ProjectSettings }>
  | Message<'ProjectUpdated', { changes: ProjectChanges }>
  | ProjectTagEvent
  | ProjectEnd
  | ProjectRecovered;

/** Tags that workspaces in the project inherit, one event for each. The value of a tag without a value is empty. */
type ProjectTagEvent =
  | Message<'ProjectTagBound', { key: string; from: string | null; to: string }>
  | Message<'ProjectTagUnbound', { key: string; from: string }>;

export type ProjectCommand =
  | Message<'CreateProject', ProjectInput & { readonly name: string; readonly bindings?: readonly Tag[] }>
  /** `bindings`: all bindings after the update. */
  | Message<'UpdateProject', { changes: ProjectInput; bindings?: readonly Tag[] | undefined }>
  | Message<'BindProjectTags', { bindings: readonly Tag[]; mode: BindingMode }>
  | Message<'DeleteProject', { isDefault: boolean; workspaces: number; recoverableUntil: Timestamp | null }>
  /** `name`: default is the name before the deletion. `isPoolUsable`: whether it may use its agent pool, if it has one. */
  | Message<'RecoverProject', { name: string | undefined; isPoolUsable: boolean }>
  | Message<'PurgeProject', PurgeCommandData>;

export type ActiveProject = {
  readonly status: 'active';
  readonly name: string;
  readonly description: string | null;
  readonly settings: ProjectSettings;
  readonly tags: readonly Tag[];
};
export type ProjectState = RecoverableState<ActiveProject>;

const NOUN = 'project';

export const PROJECT_POOL_POINTER = 'default-agent-pool-id';

const NAME_RULE = {
  pattern: /^[A-Za-z0-9_-](?:[A-Za-z0-9 _-]*[A-Za-z0-9_-])?$/,
  allowed: 'letters, numbers, dashes, underscores and, between them, spaces',
  most: 90,
};

/**
 * Returns the changes with mode and pool from the same source: both from the project, or both from the organization.
 */
const toProjectChanges = ({ follows, ...changes }: ProjectInput): ProjectChanges => {
  if (follows) return { ...changes, defaultExecutionMode: null, defaultAgentPoolId: null };
  const defaultAgentPoolId = resolveDefaultPool({
    mode: changes.defaultExecutionMode,
    pool: changes.defaultAgentPoolId,
  });
  return defaultAgentPoolId === undefined ? changes : { ...changes, defaultAgentPoolId };
};

const checkSettings = (
  { autoDestroyActivityDuration, defaultExecutionMode: mode, defaultAgentPoolId: pool }: ProjectSettings,
  changed: ProjectChanges,
  { follows }: ProjectInput,
): void => {
  if (changed.autoDestroyActivityDuration !== undefined) checkAutoDestroyDuration(autoDestroyActivityDuration);
  if (follows === false && mode === null) {
    throw unprocessable(
      'Default execution mode must be given when setting overwrites names it',
      'default-execution-mode',
    );
  }
  if (changed.defaultExecutionMode === undefined && changed.defaultAgentPoolId === undefined) return;
  checkExecutionDefaults({ mode, pool }, PROJECT_POOL_POINTER);
};

const toProjectTagEvent = ({ key, from, to }: BindingChange): ProjectTagEvent =>
  to === null
    ? { type: 'ProjectTagUnbound', data: { key, from: from ?? '' } }
    : { type: 'ProjectTagBound', data: { key, from, to } };

/** `at`: pointer to the bindings in the request. */
const decideBindings = (
  tags: readonly Tag[],
  { bindings, mode, at }: { readonly bindings: readonly Tag[]; readonly mode: BindingMode; readonly at: string },
): readonly ProjectTagEvent[] => {
  const changes = computeBindingChanges(tags, bindings, mode);
  checkTagLimit(applyBindingChanges(tags, changes), at);
  return changes.map(toProjectTagEvent);
};

const decideInitialBindings = (
  tags: readonly Tag[],
  bindings: readonly Tag[] | undefined,
): readonly ProjectTagEvent[] =>
  bindings ? decideBindings(tags, { bindings, mode: 'replacing', at: BINDING_POINTERS.bindings }) : [];

/** Refuses more than ten tags, because each workspace of the project inherits them. */
const checkTagLimit = (tags: readonly Tag[], at: string): void => {
  checkBindingCount(tags.length, at);
};

const withTag = (state: ProjectState, change: BindingChange): ProjectState =>
  state.status === 'active' ? { ...state, tags: applyBindingChanges(state.tags, [change]) } : state;

export const project: Decider<ProjectState, ProjectCommand, ProjectEvent> = {
  // A snapshot contains all settings, so its version rises with each new setting and older snapshots are ignored.
  version: 4 + PROJECT_SETTINGS.version,
  initial: { status: 'absent' },
  decide: {
    CreateProject: ({ bindings, ...input }, state) => {
      if (state.status !== 'absent') throw conflict('Project exists already');
      const { name = '', description = null, ...changes } = toProjectChanges(input);
      const settings = { ...DEFAULT_PROJECT_SETTINGS, ...changes };
      runAllChecks(
        () => checkName(name, NAME_RULE),
        () => checkSettings(settings, changes, input),
      );
      return [
        { type: 'ProjectCreated', data: { name, description, settings } },
        ...decideInitialBindings([], bindings),
      ];
    },
    UpdateProject: ({ changes, bindings }, state) => {
      const { settings, name, description, tags } = requireActive(state);
      const changed = pickChanged({ ...settings, name, description }, toProjectChanges(changes));
      runAllChecks(
        () => changed.name !== undefined && checkName(changed.name, NAME_RULE),
        () => checkSettings({ ...settings, ...changed }, changed, changes),
      );
      return [
        ...(hasNoChanges(changed) ? [] : [{ type: 'ProjectUpdated', data: { changes: changed } } as const]),
        ...decideInitialBindings(tags, bindings),
      ];
    },
    BindProjectTags: ({ bindings, mode }, state) =>
      decideBindings(requireActive(state).tags, { bindings, mode, at: '/data' }),
    DeleteProject: ({ isDefault, workspaces, recoverableUntil }, state) => {
      const { name } = requireActive(state);
      if (isDefault) throw unprocessable('The default project cannot be deleted');
      if (workspaces > 0) {
        const count = workspaces === 1 ? '1 workspace' : `${workspaces} workspaces`;
        throw unprocessable(`The project still holds ${count}: move or delete them first`);
      }
      return [{ type: 'ProjectDeleted', data: { name, recoverableUntil } }];
    },
    RecoverProject: ({ name, isPoolUsable }, state) => {
      const last = requireDeleted(state, NOUN);
      if (name !== undefined && name !== last.name) checkName(name, NAME_RULE);
      const follows = { defaultExecutionMode: null, defaultAgentPoolId: null };
      return [
        { type: 'ProjectRecovered', data: { name: name ?? last.name } },
        ...(isPoolUsable ? [] : [{ type: 'ProjectUpdated', data: { changes: follows } } as const]),
      ];
    },
    PurgeProject: (data, state) =>
      decidePurge(data, state, {
        noun: NOUN,
        purge: ({ name }): ProjectEnd => ({ type: 'ProjectPurged', data: { name, ...data } }),
      }),
  },
  evolve: {
    ProjectCreated: ({ name, description, settings }) => ({
      status: 'active',
      name,
      description,
      settings,
      tags: [],
    }),
    ProjectUpdated: ({ changes: { name, description, ...settings } }, state) =>
      state.status === 'active'
        ? {
            ...state,
            name: name ?? state.name,
            description: description === undefined ? state.description : description,
            settings: { ...state.settings, ...settings },
          }
        : state,
    ProjectTagBound: (change, state) => withTag(state, change),
    ProjectTagUnbound: (change, state) => withTag(state, { ...change, to: null }),
    ProjectDeleted: toDeletedState,
    ProjectRecovered: ({ name }, state) => (state.status === 'deleted' && state.last ? { ...state.last, name } : state),
    ProjectPurged: () => ({ status: 'deleted', last: null }),
  },
};
