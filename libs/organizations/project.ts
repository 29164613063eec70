import { conflict, notFound, unprocessable, type Decider, type Message } from '#kernel';

/** The project that every organization is born with, where workspaces go that name none. */
export const DEFAULT_PROJECT = 'Default Project';

/** `null` follows the organization. */
export type ProjectSettings = {
  readonly autoDestroyActivityDuration: string | null;
  readonly defaultExecutionMode: 'remote' | 'local' | 'agent' | null;
  readonly defaultAgentPoolId: string | null;
};

export const DEFAULT_PROJECT_SETTINGS: ProjectSettings = {
  autoDestroyActivityDuration: null,
  defaultExecutionMode: null,
  defaultAgentPoolId: null,
};

export type ProjectChanges = Partial<ProjectSettings & { readonly name: string; readonly description: string | null }>;

export type ProjectEvent =
  | Message<'ProjectCreated', { name: string; description: string | null; settings: ProjectSettings }>
  | Message<'ProjectUpdated', { changes: ProjectChanges }>
  | Message<'ProjectDeleted', { name: string }>;

export type ProjectCommand =
  | Message<'CreateProject', { name: string; description: string | null; settings: Partial<ProjectSettings> }>
  | Message<'UpdateProject', { changes: ProjectChanges }>
  | Message<'DeleteProject', { isDefault: boolean; workspaces: number }>;

type Active = {
  readonly status: 'active';
  readonly name: string;
  readonly description: string | null;
  readonly settings: ProjectSettings;
};
export type Project = { readonly status: 'absent' | 'deleted' } | Active;

const checkName = (name: string): void => {
  if (name.trim() === '') throw unprocessable("Name can't be blank", 'name');
  if (!/^[A-Za-z0-9 _-]+$/.test(name)) {
    throw unprocessable('Name may only contain letters, numbers, spaces, dashes and underscores', 'name');
  }
  if (name.length > 90) throw unprocessable('Name is too long (at most 90 characters)', 'name');
};

const DURATION = /^[0-9]{1,4}[dh]$/;

/** The text is one in use (clients.md §2). */
const checkSettings = ({ autoDestroyActivityDuration: duration }: Partial<ProjectSettings>): void => {
  if (duration && (!DURATION.test(duration) || Number.parseInt(duration, 10) === 0)) {
    throw unprocessable(
      "Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit ('d' or 'h')",
      'auto-destroy-activity-duration',
    );
  }
};

const active = (state: Project): Active => {
  if (state.status !== 'active') throw notFound();
  return state;
};

export const project: Decider<Project, ProjectCommand, ProjectEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateProject: ({ name, description, settings }, state) => {
      if (state.status !== 'absent') throw conflict('Project exists already');
      checkName(name);
      checkSettings(settings);
      const all = { ...DEFAULT_PROJECT_SETTINGS, ...settings };
      return [{ type: 'ProjectCreated', data: { name, description, settings: all } }];
    },
    UpdateProject: ({ changes }, state) => {
      const { name, description, settings } = active(state);
      const before: Readonly<Record<string, unknown>> = { ...settings, name, description };
      const changed: ProjectChanges = Object.fromEntries(
        Object.entries(changes).filter(([key, value]) => before[key] !== value),
      );
      if (changed.name !== undefined) checkName(changed.name);
      checkSettings(changed);
      return Object.keys(changed).length === 0 ? [] : [{ type: 'ProjectUpdated', data: { changes: changed } }];
    },
    DeleteProject: ({ isDefault, workspaces }, state) => {
      const { name } = active(state);
      if (isDefault) throw unprocessable('The default project cannot be deleted');
      if (workspaces > 0) throw unprocessable(`The project still holds ${workspaces} workspaces; move or delete them`);
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
