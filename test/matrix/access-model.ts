import type { CustomProjectAccess, WorkspaceAccess } from '#access';

/** What a team has on a place, in the words of the API. */
export type OnWorkspace =
  { readonly level: 'read' | 'plan' | 'write' | 'admin' } | { readonly custom: WorkspaceAccess };
export type OnProject =
  { readonly level: 'read' | 'write' | 'maintain' | 'admin' } | { readonly custom: CustomProjectAccess };

export type Flag = 'manageWorkspaces' | 'manageProjects' | 'readWorkspaces' | 'readProjects' | 'manageRunTasks';

export type ModelTeam = {
  readonly flags: Set<Flag>;
  readonly members: Set<string>;
  readonly onWorkspace: Map<string, OnWorkspace>;
  readonly onProject: Map<string, OnProject>;
};

/** An organization as nothing but who is what in it. */
export type AccessModel = {
  readonly teams: Map<string, ModelTeam>;
  /** In which project each workspace stands. */
  readonly workspaces: Map<string, string>;
  readonly members: Set<string>;
  /** Asked to come: what their teams have is nothing to them yet. */
  readonly invited: Set<string>;
  readonly owners: Set<string>;
  /** To tokens of users. */
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

const onWorkspace = (given: OnWorkspace | undefined): readonly string[] => {
  if (!given) return [];
  if ('level' in given) return WORKSPACE_LEVELS[given.level];
  return inWords({ ...given.custom, locks: given.custom.workspaceLocking, deletes: false });
};

const inProject = (given: OnProject | undefined): readonly string[] => {
  if (!given) return [];
  if ('level' in given) return PROJECT_LEVELS[given.level];
  return inWords({ ...given.custom, locks: given.custom.locking, deletes: given.custom.delete });
};

const UPDATES_PROJECT = ['can-update', 'can-manage-tags'];
const TEAMS_OF_PROJECT = ['can-read-teams', 'can-manage-teams'];
const MANAGES_PROJECT = [
  'can-read',
  ...UPDATES_PROJECT,
  'can-destroy',
  'can-create-workspace',
  'can-move-workspace',
  ...TEAMS_OF_PROJECT,
];

const onProject = (given: OnProject | undefined): readonly string[] => {
  if (!given) return [];
  if ('level' in given) {
    if (given.level === 'admin') return MANAGES_PROJECT;
    return given.level === 'maintain' ? ['can-read', 'can-create-workspace'] : ['can-read'];
  }
  const { create, move, project } = given.custom;
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

/** Who asks: a user by name, or a team by its token. */
export type ModelCaller = { readonly user: string } | { readonly team: string };

const isOwner = (model: AccessModel, asker: ModelCaller): boolean => 'user' in asker && model.owners.has(asker.user);

/** Whether the organization refuses the caller and gives the reason: only its members get the reason. */
export const isShutOut = (model: AccessModel, asker: ModelCaller): boolean =>
  model.closed && 'user' in asker && model.members.has(asker.user);

/** The teams that speak for them; null for who has no part in the organization. */
const teamsOf = (model: AccessModel, asker: ModelCaller): readonly ModelTeam[] | null => {
  if ('team' in asker) return [model.teams.get(asker.team) ?? newTeam()];
  if (!model.members.has(asker.user)) return null;
  if (model.closed) return null;
  return [...model.teams.values()].filter(({ members }) => members.has(asker.user));
};

export type VisibleResources = ReadonlyMap<string, readonly string[]>;

const sorted = (words: readonly string[]): string[] => [...new Set(words)].toSorted();

/** Each workspace that they see, with what they may do there; null where the organization is closed to them. */
export const workspacesSeen = (model: AccessModel, asker: ModelCaller): VisibleResources | null => {
  const teams = teamsOf(model, asker);
  if (!teams) return null;
  const seen = new Map<string, readonly string[]>();
  for (const [workspace, project] of model.workspaces) {
    const words = isOwner(model, asker)
      ? [...MANAGES, ...TASKS, 'can-force-delete']
      : teams.flatMap((team) => [
          ...[...team.flags].flatMap((flag) => BY_FLAG_ON_WORKSPACES[flag]),
          ...onWorkspace(team.onWorkspace.get(workspace)),
          ...inProject(team.onProject.get(project)),
        ]);
    if (words.includes('can-read-settings')) seen.set(workspace, sorted(words));
  }
  return seen;
};

/** The same for projects: who sees a workspace sees where it stands. */
export const projectsSeen = (
  model: AccessModel,
  asker: ModelCaller,
  projects: readonly string[],
): VisibleResources | null => {
  const teams = teamsOf(model, asker);
  if (!teams) return null;
  const seen = new Map<string, readonly string[]>();
  for (const project of projects) {
    const within = [...model.workspaces].filter(([, standsIn]) => standsIn === project).map(([workspace]) => workspace);
    const words = isOwner(model, asker)
      ? MANAGES_PROJECT
      : teams.flatMap((team) => [
          ...[...team.flags].flatMap((flag) => BY_FLAG_ON_PROJECTS[flag]),
          ...onProject(team.onProject.get(project)),
          ...(within.some((workspace) => team.onWorkspace.has(workspace)) ? ['can-read'] : []),
        ]);
    if (words.includes('can-read')) seen.set(project, sorted(words));
  }
  return seen;
};
