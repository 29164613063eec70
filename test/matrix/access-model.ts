import type { CustomProjectAccess, WorkspaceAccess } from '#api/access';

/** Access of a team to a workspace, in the words of the API. */
export type OnWorkspace =
  { readonly level: 'read' | 'plan' | 'write' | 'admin' } | { readonly custom: WorkspaceAccess };
export type OnProject =
  { readonly level: 'read' | 'write' | 'maintain' | 'admin' } | { readonly custom: CustomProjectAccess };

export type Flag = 'manageWorkspaces' | 'manageProjects' | 'readWorkspaces' | 'readProjects' | 'manageRunTasks';

type ModelTeam = {
  readonly flags: Set<Flag>;
  readonly members: Set<string>;
  readonly onWorkspace: Map<string, OnWorkspace>;
  readonly onProject: Map<string, OnProject>;
};

/** An organization as a plain model of members, teams and access. */
export type AccessModel = {
  readonly teams: Map<string, ModelTeam>;
  /** Project of each workspace. */
  readonly workspaces: Map<string, string>;
  readonly members: Set<string>;
  /** Users whose invitation is open. Their teams give them no access yet. */
  readonly invited: Set<string>;
  readonly owners: Set<string>;
  /** Whether the organization refuses tokens of users. */
  closed: boolean;
};

export const newTeam = (): ModelTeam => ({
  flags: new Set(),
  members: new Set(),
  onWorkspace: new Map(),
  onProject: new Map(),
});

const SEES = ['can-read-run', 'can-read-settings', 'can-read-assessment-results'];
const READS = [...SEES, 'can-read-variable', 'can-read-state-versions', 'can-read-state-outputs'];
const PLANS = ['can-queue-run', 'can-queue-destroy'];
const APPLIES = ['can-queue-apply'];
const LOCKS = ['can-lock', 'can-unlock'];
const STORES = ['can-create-state-versions'];
const SETS = ['can-update-variable'];
const TAGS = ['can-manage-tags'];
const TASKS = ['can-manage-run-tasks'];
const DELETES = ['can-destroy'];
const ADMINISTERS = ['can-update', 'can-force-unlock', 'can-manage-assessments', 'can-manage-ephemeral-workspaces'];
const WRITES = [...READS, ...PLANS, ...APPLIES, ...LOCKS, ...STORES, ...SETS, ...TAGS];
const MANAGES = [...WRITES, ...ADMINISTERS, ...DELETES];

const WORKSPACE_LEVELS = {
  read: READS,
  plan: [...READS, ...PLANS],
  write: WRITES,
  admin: [...MANAGES, ...TASKS],
} as const;
const PROJECT_LEVELS = {
  read: READS,
  write: WRITES,
  maintain: [...MANAGES, ...TASKS],
  admin: [...MANAGES, ...TASKS],
} as const;

type InWorkspaces = Omit<WorkspaceAccess, 'workspaceLocking'> & { readonly locks: boolean; readonly deletes: boolean };

const BY_RUNS = { read: SEES, plan: [...SEES, ...PLANS], apply: [...SEES, ...PLANS, ...APPLIES] } as const;
const BY_VARIABLES = { none: [], read: ['can-read-variable'], write: ['can-read-variable', ...SETS] } as const;
const BY_STATE_VERSIONS = {
  none: [],
  'read-outputs': ['can-read-state-outputs'],
  read: ['can-read-state-outputs', 'can-read-state-versions'],
  write: ['can-read-state-outputs', 'can-read-state-versions', ...STORES],
} as const;

const inWords = ({ runs, variables, stateVersions, runTasks, locks, deletes }: InWorkspaces): string[] => [
  ...BY_RUNS[runs],
  ...BY_VARIABLES[variables],
  ...BY_STATE_VERSIONS[stateVersions],
  ...(runTasks ? TASKS : []),
  ...(locks ? LOCKS : []),
  ...(deletes ? DELETES : []),
];

const onWorkspace = (access: OnWorkspace | undefined): readonly string[] => {
  if (!access) return [];
  if ('level' in access) return WORKSPACE_LEVELS[access.level];
  return inWords({ ...access.custom, locks: access.custom.workspaceLocking, deletes: false });
};

const inProject = (access: OnProject | undefined): readonly string[] => {
  if (!access) return [];
  if ('level' in access) return PROJECT_LEVELS[access.level];
  return inWords({ ...access.custom, locks: access.custom.locking, deletes: access.custom.delete });
};

const UPDATES_PROJECT = ['can-update', 'can-manage-tags'];
const TEAMS_OF_PROJECT = ['can-read-teams', 'can-manage-teams'];
const MANAGES_PROJECT = [
  'can-read',
  ...UPDATES_PROJECT,
  'can-update-defaults',
  'can-destroy',
  'can-create-workspace',
  'can-move-workspace',
  ...TEAMS_OF_PROJECT,
];

const onProject = (access: OnProject | undefined): readonly string[] => {
  if (!access) return [];
  if ('level' in access) {
    if (access.level === 'admin') return MANAGES_PROJECT;
    return access.level === 'maintain' ? ['can-read', 'can-create-workspace'] : ['can-read'];
  }
  const { create, move, project } = access.custom;
  return [
    'can-read',
    ...(project.settings === 'read' ? [] : UPDATES_PROJECT),
    ...(project.settings === 'delete' ? ['can-destroy'] : []),
    ...(project.teams === 'none' ? [] : ['can-read-teams']),
    ...(project.teams === 'manage' ? ['can-manage-teams'] : []),
    ...(create ? ['can-create-workspace'] : []),
    ...(move ? ['can-move-workspace'] : []),
  ];
};

const BY_FLAG_ON_WORKSPACES: Readonly<Record<Flag, readonly string[]>> = {
  manageWorkspaces: MANAGES,
  manageProjects: MANAGES,
  readWorkspaces: READS,
  readProjects: READS,
  manageRunTasks: TASKS,
};

const READS_PROJECT = ['can-read', 'can-read-teams'];
const BY_FLAG_ON_PROJECTS: Readonly<Record<Flag, readonly string[]>> = {
  manageWorkspaces: [...READS_PROJECT, 'can-create-workspace'],
  manageProjects: MANAGES_PROJECT,
  readWorkspaces: READS_PROJECT,
  readProjects: READS_PROJECT,
  manageRunTasks: [],
};

/** A user by name, or a team that uses its token. */
export type ModelCaller = { readonly user: string } | { readonly team: string };

const isOwner = (model: AccessModel, caller: ModelCaller): boolean => 'user' in caller && model.owners.has(caller.user);

/** Returns whether the organization refuses the caller and gives the reason: only its members get the reason. */
export const isShutOut = (model: AccessModel, caller: ModelCaller): boolean =>
  model.closed && 'user' in caller && model.members.has(caller.user);

/** Returns the teams whose access counts for the caller. Null if the caller has no access to the organization. */
const teamsOf = (model: AccessModel, caller: ModelCaller): readonly ModelTeam[] | null => {
  if ('team' in caller) return [model.teams.get(caller.team) ?? newTeam()];
  if (!model.members.has(caller.user)) return null;
  if (model.closed) return null;
  return [...model.teams.values()].filter(({ members }) => members.has(caller.user));
};

export type VisibleResources = ReadonlyMap<string, readonly string[]>;

const sorted = (words: readonly string[]): string[] => [...new Set(words)].toSorted();

/**
 * Returns the permissions on each workspace that the caller can see. Null if the organization is closed to the caller.
 */
export const workspacesSeen = (model: AccessModel, caller: ModelCaller): VisibleResources | null => {
  const teams = teamsOf(model, caller);
  if (!teams) return null;
  const visible = new Map<string, readonly string[]>();
  for (const [workspace, project] of model.workspaces) {
    const words = isOwner(model, caller)
      ? [...MANAGES, ...TASKS, 'can-force-delete']
      : teams.flatMap((team) => [
          ...[...team.flags].flatMap((flag) => BY_FLAG_ON_WORKSPACES[flag]),
          ...onWorkspace(team.onWorkspace.get(workspace)),
          ...inProject(team.onProject.get(project)),
        ]);
    if (words.includes('can-read-settings')) visible.set(workspace, sorted(words));
  }
  return visible;
};

/** Returns the same for projects. A caller that can see a workspace can see its project. */
export const projectsSeen = (
  model: AccessModel,
  caller: ModelCaller,
  projects: readonly string[],
): VisibleResources | null => {
  const teams = teamsOf(model, caller);
  if (!teams) return null;
  const visible = new Map<string, readonly string[]>();
  for (const project of projects) {
    const within = [...model.workspaces]
      .filter(([, projectOf]) => projectOf === project)
      .map(([workspace]) => workspace);
    const words = isOwner(model, caller)
      ? MANAGES_PROJECT
      : teams.flatMap((team) => [
          ...[...team.flags].flatMap((flag) => BY_FLAG_ON_PROJECTS[flag]),
          ...onProject(team.onProject.get(project)),
          ...(within.some((workspace) => team.onWorkspace.has(workspace)) ? ['can-read'] : []),
        ]);
    if (words.includes('can-read')) visible.set(project, sorted(words));
  }
  return visible;
};
