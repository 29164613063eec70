import {
  bindingChanges,
  checkAll,
  checkAutoDestroyDuration,
  checkName,
  conflict,
  differences,
  IN_OWNER,
  isNothing,
  MAX_BINDINGS,
  requireActive,
  unprocessable,
  withBindings,
  type BindingChange,
  type BindingsHow,
  type Decider,
  type Message,
  type ProjectDeleted,
  type Tag,
} from '#kernel';
import { checkDefaults, poolAfter, type ExecutionMode } from './default-pool.js';

/** The project that every organization is born with, where workspaces go that name none. */
export const DEFAULT_PROJECT = 'Default Project';

/** `null` follows the organization. */
export type ProjectSettings = {
  readonly autoDestroyActivityDuration: string | null;
  readonly defaultExecutionMode: ExecutionMode | null;
  readonly defaultAgentPoolId: string | null;
};

export const DEFAULT_PROJECT_SETTINGS: ProjectSettings = {
  autoDestroyActivityDuration: null,
  defaultExecutionMode: null,
  defaultAgentPoolId: null,
};

export type ProjectChanges = Partial<ProjectSettings & { readonly name: string; readonly description: string | null }>;

/** `follows`: whether the defaults are to be the organization's; false asks for some of its own. */
export type ProjectInput = ProjectChanges & { readonly follows?: boolean };

export type ProjectEvent =
  | Message<'ProjectCreated', { name: string; description: string | null; settings: ProjectSettings }>
  | Message<'ProjectUpdated', { changes: ProjectChanges }>
  | ProjectTagEvent
  | ProjectDeleted;

/** Tags that workspaces in it inherit, one event for each. Values are empty for a tag without a value. */
type ProjectTagEvent =
  | Message<'ProjectTagBound', { key: string; from: string | null; to: string }>
  | Message<'ProjectTagUnbound', { key: string; from: string }>;

export type ProjectCommand =
  | Message<'CreateProject', ProjectInput & { readonly name: string; readonly bindings?: readonly Tag[] }>
  /** `bindings` stand for all that it has. */
  | Message<'UpdateProject', { changes: ProjectInput; bindings?: readonly Tag[] | undefined }>
  | Message<'BindProjectTags', { bindings: readonly Tag[]; how: BindingsHow }>
  | Message<'DeleteProject', { isDefault: boolean; workspaces: number }>;

type Active = {
  readonly status: 'active';
  readonly name: string;
  readonly description: string | null;
  readonly settings: ProjectSettings;
  readonly tags: readonly Tag[];
};
export type Project = { readonly status: 'absent' | 'deleted' } | Active;

/** Where requests name the default pool. */
export const POOL = 'default-agent-pool-id';

const NAME = {
  pattern: /^[A-Za-z0-9_-](?:[A-Za-z0-9 _-]*[A-Za-z0-9_-])?$/,
  allowed: 'letters, numbers, dashes, underscores and, between them, spaces',
  most: 90,
};

/** A mode and its pool are the project's own, or both the organization's. */
const changesOf = ({ follows, ...given }: ProjectInput): ProjectChanges => {
  if (follows) return { ...given, defaultExecutionMode: null, defaultAgentPoolId: null };
  const defaultAgentPoolId = poolAfter({ mode: given.defaultExecutionMode, pool: given.defaultAgentPoolId });
  return defaultAgentPoolId === undefined ? given : { ...given, defaultAgentPoolId };
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
  checkDefaults({ mode, pool }, POOL);
};

const told = ({ key, from, to }: BindingChange): ProjectTagEvent =>
  to === null
    ? { type: 'ProjectTagUnbound', data: { key, from: from ?? '' } }
    : { type: 'ProjectTagBound', data: { key, from, to } };

/** `at`: where the bindings stand in the body of the request. */
const bind = (
  tags: readonly Tag[],
  { bindings, how, at }: { readonly bindings: readonly Tag[]; readonly how: BindingsHow; readonly at: string },
): readonly ProjectTagEvent[] => {
  const changes = bindingChanges(tags, bindings, how);
  checkTagsRoom(withBindings(tags, changes), at);
  return changes.map(told);
};

const bindOwn = (tags: readonly Tag[], bindings: readonly Tag[] | undefined): readonly ProjectTagEvent[] =>
  bindings ? bind(tags, { bindings, how: 'replacing', at: IN_OWNER.bindings }) : [];

/** Each workspace of the project inherits all of its tags, at most ten of them (clients.md §3). */
const checkTagsRoom = (tags: readonly Tag[], at: string): void => {
  if (tags.length > MAX_BINDINGS) throw unprocessable('cannot exceed 10 bindings per resource', at);
};

const withTag = (state: Project, change: BindingChange): Project =>
  state.status === 'active' ? { ...state, tags: withBindings(state.tags, [change]) } : state;

export const project: Decider<Project, ProjectCommand, ProjectEvent> = {
  version: 4,
  initial: { status: 'absent' },
  decide: {
    CreateProject: ({ bindings, ...input }, state) => {
      if (state.status !== 'absent') throw conflict('Project exists already');
      const { name = '', description = null, ...given } = changesOf(input);
      const settings = { ...DEFAULT_PROJECT_SETTINGS, ...given };
      checkAll(
        () => checkName(name, NAME),
        () => checkSettings(settings, given, input),
      );
      return [{ type: 'ProjectCreated', data: { name, description, settings } }, ...bindOwn([], bindings)];
    },
    UpdateProject: ({ changes, bindings }, state) => {
      const { settings, name, description, tags } = requireActive(state);
      const changed = differences({ ...settings, name, description }, changesOf(changes));
      checkAll(
        () => changed.name !== undefined && checkName(changed.name, NAME),
        () => checkSettings({ ...settings, ...changed }, changed, changes),
      );
      return [
        ...(isNothing(changed) ? [] : [{ type: 'ProjectUpdated', data: { changes: changed } } as const]),
        ...bindOwn(tags, bindings),
      ];
    },
    BindProjectTags: ({ bindings, how }, state) => bind(requireActive(state).tags, { bindings, how, at: '/data' }),
    DeleteProject: ({ isDefault, workspaces }, state) => {
      const { name } = requireActive(state);
      if (isDefault) throw unprocessable('The default project cannot be deleted');
      if (workspaces > 0) {
        const held = workspaces === 1 ? '1 workspace' : `${workspaces} workspaces`;
        throw unprocessable(`The project still holds ${held}: move or delete what is in it first`);
      }
      return [{ type: 'ProjectDeleted', data: { name } }];
    },
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
    ProjectDeleted: () => ({ status: 'deleted' }),
  },
};
