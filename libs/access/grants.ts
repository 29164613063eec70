/**
 * What a team can be given on a workspace or a project (clients.md §3), and what each of it is worth.
 *
 * Everything comes down to capabilities: short words that rows of the permission table ask for. A level gives a fixed
 * set of them, `custom` gives what its fields say. Who has several teams has the sum: the highest of all paths counts.
 */
const RUNS = ['read', 'plan', 'apply'] as const;
const VARIABLES = ['none', 'read', 'write'] as const;
const STATE_VERSIONS = ['none', 'read-outputs', 'read', 'write'] as const;
const SENTINEL_MOCKS = ['none', 'read'] as const;
const PROJECT_SETTINGS = ['read', 'update', 'delete'] as const;
const PROJECT_TEAMS = ['none', 'read', 'manage'] as const;
const VARIABLE_SETS = ['none', 'read', 'write'] as const;

/** Each field of `custom`, from the least upwards: a value includes those before it. */
export const WORKSPACE_FIELDS = {
  runs: RUNS,
  variables: VARIABLES,
  stateVersions: STATE_VERSIONS,
  sentinelMocks: SENTINEL_MOCKS,
} as const;
export const PROJECT_FIELDS = {
  settings: PROJECT_SETTINGS,
  teams: PROJECT_TEAMS,
  variableSets: VARIABLE_SETS,
} as const;

export const WORKSPACE_LEVELS = ['read', 'plan', 'write', 'admin', 'custom'] as const;
export type WorkspaceLevel = (typeof WORKSPACE_LEVELS)[number];
export const PROJECT_LEVELS = ['read', 'write', 'maintain', 'admin', 'custom'] as const;
export type ProjectLevel = (typeof PROJECT_LEVELS)[number];

/** Of `team-workspaces`: what the fields read where the level is fixed, and what they give where it is `custom`. */
export type WorkspaceAccess = {
  readonly runs: (typeof RUNS)[number];
  readonly variables: (typeof VARIABLES)[number];
  readonly stateVersions: (typeof STATE_VERSIONS)[number];
  readonly sentinelMocks: (typeof SENTINEL_MOCKS)[number];
  readonly workspaceLocking: boolean;
  readonly runTasks: boolean;
};

/** Of `team-projects`, `workspace-access`: for every workspace in the project. */
export type ProjectWorkspaceAccess = Omit<WorkspaceAccess, 'workspaceLocking'> & {
  readonly create: boolean;
  readonly locking: boolean;
  readonly delete: boolean;
  readonly move: boolean;
};

/** Of `team-projects`, `project-access`: for the project itself. */
export type ProjectAccess = {
  readonly settings: (typeof PROJECT_SETTINGS)[number];
  readonly teams: (typeof PROJECT_TEAMS)[number];
  readonly variableSets: (typeof VARIABLE_SETS)[number];
};

export type Capability =
  | `runs:${(typeof RUNS)[number]}`
  | `variables:${Exclude<(typeof VARIABLES)[number], 'none'>}`
  | `state-versions:${Exclude<(typeof STATE_VERSIONS)[number], 'none'>}`
  | 'sentinel-mocks:read'
  | 'locking'
  | 'run-tasks'
  | 'tags'
  /** Administers the workspace: its settings, force-unlock, who has access. */
  | 'admin'
  | 'create'
  | 'delete'
  | 'move'
  | `project-settings:${(typeof PROJECT_SETTINGS)[number]}`
  | `project-teams:${Exclude<(typeof PROJECT_TEAMS)[number], 'none'>}`
  | `variable-sets:${Exclude<(typeof VARIABLE_SETS)[number], 'none'>}`
  /** Of the members of a team, for its tokens. */
  | 'own-team-tokens';

/** What one team gives its members at one place, as the queries of grants.queries.ts hand it over. */
export type Grant =
  | ({ readonly on: 'workspace' } & (
      | { readonly level: Exclude<WorkspaceLevel, 'custom'> }
      | { readonly level: 'custom'; readonly custom: WorkspaceAccess }
    ))
  | ({ readonly on: 'project' } & (
      | { readonly level: Exclude<ProjectLevel, 'custom'> }
      | { readonly level: 'custom'; readonly custom: ProjectWorkspaceAccess & { readonly project: ProjectAccess } }
      /** Of who sees a workspace in it: they see where it stands. */
      | { readonly level: 'passage' }
    ))
  | { readonly on: 'team'; readonly level: 'member' };

const WORKSPACE_READ = ['runs:read', 'variables:read', 'state-versions:read-outputs', 'state-versions:read'] as const;
const WORKSPACE_PLAN = [...WORKSPACE_READ, 'runs:plan'] as const;
const WORKSPACE_WRITE = [
  ...WORKSPACE_PLAN,
  'runs:apply',
  'variables:write',
  'state-versions:write',
  'sentinel-mocks:read',
  'locking',
  'tags',
] as const;
const WORKSPACE_ADMIN = [...WORKSPACE_WRITE, 'run-tasks', 'admin', 'delete'] as const;
const PROJECT_READ = [...WORKSPACE_READ, 'project-settings:read'] as const;
const PROJECT_WRITE = [...WORKSPACE_WRITE, 'project-settings:read'] as const;
const PROJECT_MAINTAIN = [
  ...WORKSPACE_ADMIN,
  'project-settings:read',
  'create',
  'move',
  'variable-sets:read',
  'variable-sets:write',
] as const;
const PROJECT_ADMIN = [
  ...PROJECT_MAINTAIN,
  'project-settings:update',
  'project-settings:delete',
  'project-teams:read',
  'project-teams:manage',
] as const;

const FIXED: { readonly [key: string]: ReadonlySet<Capability> } = {
  'workspace read': new Set(WORKSPACE_READ),
  'workspace plan': new Set(WORKSPACE_PLAN),
  'workspace write': new Set(WORKSPACE_WRITE),
  'workspace admin': new Set(WORKSPACE_ADMIN),
  'project read': new Set(PROJECT_READ),
  'project write': new Set(PROJECT_WRITE),
  'project maintain': new Set(PROJECT_MAINTAIN),
  'project admin': new Set(PROJECT_ADMIN),
  'project passage': new Set(['project-settings:read'] as const),
  'team member': new Set(['own-team-tokens'] as const),
} satisfies Readonly<Record<string, ReadonlySet<Capability>>>;

/** `read`, `plan` of `plan` on the scale read, plan, apply; nothing of `none`. */
const upTo = <V extends string>(scale: readonly V[], value: V, prefix: string): Capability[] =>
  scale
    .slice(0, scale.indexOf(value) + 1)
    .filter((step) => step !== 'none')
    .map((step) => `${prefix}:${step}` as Capability);

const inWorkspaces = (access: Omit<WorkspaceAccess, 'workspaceLocking'>): Capability[] => [
  ...upTo(RUNS, access.runs, 'runs'),
  ...upTo(VARIABLES, access.variables, 'variables'),
  ...upTo(STATE_VERSIONS, access.stateVersions, 'state-versions'),
  ...upTo(SENTINEL_MOCKS, access.sentinelMocks, 'sentinel-mocks'),
  ...(access.runTasks ? (['run-tasks'] as const) : []),
];

/** Everything that a grant is worth. */
export const capabilitiesOf = (grant: Grant): ReadonlySet<Capability> => {
  if (grant.level !== 'custom') return FIXED[`${grant.on} ${grant.level}`] ?? new Set();
  const given = new Set(inWorkspaces(grant.custom));
  if (grant.on === 'workspace') return grant.custom.workspaceLocking ? given.add('locking') : given;
  const { locking, create, move, delete: deletes, project } = grant.custom;
  for (const [word, is] of Object.entries({ locking, create, move, delete: deletes }))
    if (is) given.add(word as Capability);
  for (const word of upTo(PROJECT_SETTINGS, project.settings, 'project-settings')) given.add(word);
  for (const word of upTo(PROJECT_TEAMS, project.teams, 'project-teams')) given.add(word);
  for (const word of upTo(VARIABLE_SETS, project.variableSets, 'variable-sets')) given.add(word);
  return given;
};

export const gives = (grants: readonly Grant[], capability: Capability): boolean =>
  grants.some((grant) => capabilitiesOf(grant).has(capability));
