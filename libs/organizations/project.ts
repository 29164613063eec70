import {
  checkAutoDestroyDuration,
  checkName,
  conflict,
  differences,
  isNothing,
  notFound,
  unprocessable,
  type Decider,
  type Message,
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
  | Message<'ProjectDeleted', { name: string }>;

export type ProjectCommand =
  | Message<'CreateProject', ProjectInput & { readonly name: string }>
  | Message<'UpdateProject', { changes: ProjectInput }>
  | Message<'DeleteProject', { isDefault: boolean; workspaces: number }>;

type Active = {
  readonly status: 'active';
  readonly name: string;
  readonly description: string | null;
  readonly settings: ProjectSettings;
};
export type Project = { readonly status: 'absent' | 'deleted' } | Active;

/** Where requests name the default pool. */
export const POOL = 'default-agent-pool-id';

const NAME = {
  pattern: /^[A-Za-z0-9_-](?:[A-Za-z0-9 _-]*[A-Za-z0-9_-])?$/,
  allowed: 'letters, numbers, dashes, underscores and, between them, spaces',
  most: 90,
};

const active = (state: Project): Active => {
  if (state.status !== 'active') throw notFound();
  return state;
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

export const project: Decider<Project, ProjectCommand, ProjectEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateProject: (input, state) => {
      if (state.status !== 'absent') throw conflict('Project exists already');
      const { name = '', description = null, ...given } = changesOf(input);
      checkName(name, NAME);
      const settings = { ...DEFAULT_PROJECT_SETTINGS, ...given };
      checkSettings(settings, given, input);
      return [{ type: 'ProjectCreated', data: { name, description, settings } }];
    },
    UpdateProject: ({ changes }, state) => {
      const { settings, name, description } = active(state);
      const changed = differences({ ...settings, name, description }, changesOf(changes));
      if (changed.name !== undefined) checkName(changed.name, NAME);
      checkSettings({ ...settings, ...changed }, changed, changes);
      return isNothing(changed) ? [] : [{ type: 'ProjectUpdated', data: { changes: changed } }];
    },
    DeleteProject: ({ isDefault, workspaces }, state) => {
      const { name } = active(state);
      if (isDefault) throw unprocessable('The default project cannot be deleted');
      if (workspaces > 0) {
        const held = workspaces === 1 ? '1 workspace' : `${workspaces} workspaces`;
        throw unprocessable(`The project still holds ${held}: move or delete what is in it first`);
      }
      return [{ type: 'ProjectDeleted', data: { name } }];
    },
  },
  evolve: {
    ProjectCreated: ({ name, description, settings }) => ({ status: 'active', name, description, settings }),
    ProjectUpdated: ({ changes: { name, description, ...settings } }, state) =>
      state.status === 'active'
        ? {
            ...state,
            name: name ?? state.name,
            description: description === undefined ? state.description : description,
            settings: { ...state.settings, ...settings },
          }
        : state,
    ProjectDeleted: () => ({ status: 'deleted' }),
  },
};
