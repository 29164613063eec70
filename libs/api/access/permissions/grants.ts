/**
 * The access that a team can have on a workspace or a project.
 *
 * All access is expressed in capabilities, which rows of the permission table name. A level includes a fixed set of
 * them, `custom` those of its fields. With several teams, a caller has the union of their capabilities.
 */
const RUNS = ['read', 'plan', 'apply'] as const;
const VARIABLES = ['none', 'read', 'write'] as const;
const STATE_VERSIONS = ['none', 'read-outputs', 'read', 'write'] as const;
const SENTINEL_MOCKS = ['none', 'read'] as const;
const PROJECT_SETTINGS = ['read', 'update', 'delete'] as const;
const PROJECT_TEAMS = ['none', 'read', 'manage'] as const;
const VARIABLE_SETS = ['none', 'read', 'write'] as const;

/** The values of each field of `custom`, from the lowest to the highest. A value includes the lower ones. */
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

/** Fields of `team-workspaces`. With a fixed level they show its effect, with `custom` they define the access. */
export type WorkspaceAccess = {
  readonly runs: (typeof RUNS)[number];
  readonly variables: (typeof VARIABLES)[number];
  readonly stateVersions: (typeof STATE_VERSIONS)[number];
  readonly sentinelMocks: (typeof SENTINEL_MOCKS)[number];
  readonly workspaceLocking: boolean;
  readonly runTasks: boolean;
  /** Stored and shown. Only teams with `managePolicyOverrides` override policies. */
  readonly policyOverrides: boolean;
};

/** `workspace-access` of `team-projects`: applies to every workspace in the project. */
export type ProjectWorkspaceAccess = Omit<WorkspaceAccess, 'workspaceLocking'> & {
  readonly create: boolean;
  readonly locking: boolean;
  readonly delete: boolean;
  readonly move: boolean;
};

/** `project-access` of `team-projects`: applies to the project itself. */
export type ProjectAccess = {
  readonly settings: (typeof PROJECT_SETTINGS)[number];
  readonly teams: (typeof PROJECT_TEAMS)[number];
  readonly variableSets: (typeof VARIABLE_SETS)[number];
};

/** Both parts, as stored in the column `custom` of `team_projects`. */
export type CustomProjectAccess = ProjectWorkspaceAccess & { readonly project: ProjectAccess };

export type Capability =
  /** Seeing the workspace and its settings, which every level on a workspace includes. */
  | 'see'
  | 'configurations:read'
  | `runs:${(typeof RUNS)[number]}`
  | `variables:${Exclude<(typeof VARIABLES)[number], 'none'>}`
  | `state-versions:${Exclude<(typeof STATE_VERSIONS)[number], 'none'>}`
  | 'sentinel-mocks:read'
  | 'locking'
  | 'run-tasks'
  | 'tags'
  /** Administers the workspace: its settings, force-unlock, and the access of teams. */
  | 'admin'
  | 'create'
  | 'delete'
  | 'move'
  | `project-settings:${(typeof PROJECT_SETTINGS)[number]}`
  | `project-teams:${Exclude<(typeof PROJECT_TEAMS)[number], 'none'>}`
  | `variable-sets:${Exclude<(typeof VARIABLE_SETS)[number], 'none'>}`
  /** Managing tokens of the team, as a member of it. */
  | 'own-team-tokens';

/** The access that one team gives its members on a workspace or project, as grants.queries.ts reads it. */
export type Grant =
  | ({ readonly on: 'workspace' } & (
      | { readonly level: Exclude<WorkspaceLevel, 'custom'> }
      | { readonly level: 'custom'; readonly custom: WorkspaceAccess }
    ))
  | ({ readonly on: 'project' } & (
      | { readonly level: Exclude<ProjectLevel, 'custom'> }
      | { readonly level: 'custom'; readonly custom: CustomProjectAccess }
      /** Implied read permission of callers that can see a workspace in the project. */
      | { readonly level: 'passage' }
    ))
  | { readonly on: 'team'; readonly level: 'member' }
  /**
   * Grants of a run's token: `own` on the workspace of the run, `applying` while the run is applied, `consumer` on
   * workspaces whose state the run may read.
   */
  | { readonly on: 'run'; readonly level: 'own' | 'applying' | 'consumer' };

/** The fields of each fixed level. Documents show them, and the capabilities of the level follow from them. */
export const WORKSPACE_LEVEL_ACCESS: Readonly<Record<Exclude<WorkspaceLevel, 'custom'>, WorkspaceAccess>> = (() => {
  const read = {
    runs: 'read',
    variables: 'read',
    stateVersions: 'read',
    sentinelMocks: 'none',
    workspaceLocking: false,
    runTasks: false,
    policyOverrides: false,
  } as const;
  const write = {
    runs: 'apply',
    variables: 'write',
    stateVersions: 'write',
    sentinelMocks: 'read',
    workspaceLocking: true,
    runTasks: false,
    policyOverrides: false,
  } as const;
  return { read, plan: { ...read, runs: 'plan' }, write, admin: { ...write, runTasks: true } };
})();

export const PROJECT_LEVEL_ACCESS: Readonly<Record<Exclude<ProjectLevel, 'custom'>, CustomProjectAccess>> = (() => {
  const inEach = ({ workspaceLocking, ...access }: WorkspaceAccess) => ({ ...access, locking: workspaceLocking });
  const none = { create: false, delete: false, move: false };
  const all = { create: true, delete: true, move: true };
  const reader = { settings: 'read', teams: 'none', variableSets: 'none' } as const;
  return {
    read: { ...inEach(WORKSPACE_LEVEL_ACCESS.read), ...none, project: reader },
    write: { ...inEach(WORKSPACE_LEVEL_ACCESS.write), ...none, project: reader },
    // Everything in the project except moving workspaces, which needs admin access to both projects.
    maintain: {
      ...inEach(WORKSPACE_LEVEL_ACCESS.admin),
      ...all,
      move: false,
      project: { ...reader, variableSets: 'write' },
    },
    admin: {
      ...inEach(WORKSPACE_LEVEL_ACCESS.admin),
      ...all,
      project: { settings: 'delete', teams: 'manage', variableSets: 'write' },
    },
  };
})();

/** Capabilities of fixed levels that no field contains, so that custom access cannot include them. */
const UNLISTED_CAPABILITIES: { readonly [level: string]: readonly Capability[] } = {
  'workspace write': ['tags'],
  'workspace admin': ['tags', 'admin', 'delete'],
  'project write': ['tags'],
  'project maintain': ['tags', 'admin'],
  'project admin': ['tags', 'admin'],
};

/**
 * Returns the capabilities of a value and of all lower ones: `read` and `plan` for `plan` on the scale read, plan,
 * apply; none for `none`.
 */
const expandScale = <V extends string>(scale: readonly V[], value: V, prefix: string): Capability[] =>
  scale
    .slice(0, scale.indexOf(value) + 1)
    .filter((step) => step !== 'none')
    .map((step) => `${prefix}:${step}` as Capability);

const listProjectWorkspaceCapabilities = (access: Omit<WorkspaceAccess, 'workspaceLocking'>): Capability[] => [
  'see',
  'configurations:read',
  ...expandScale(RUNS, access.runs, 'runs'),
  ...expandScale(VARIABLES, access.variables, 'variables'),
  ...expandScale(STATE_VERSIONS, access.stateVersions, 'state-versions'),
  ...expandScale(SENTINEL_MOCKS, access.sentinelMocks, 'sentinel-mocks'),
  ...(access.runTasks ? (['run-tasks'] as const) : []),
];

const listWorkspaceCapabilities = (access: WorkspaceAccess): Capability[] => [
  ...listProjectWorkspaceCapabilities(access),
  ...(access.workspaceLocking ? (['locking'] as const) : []),
];

const listProjectCapabilities = (access: CustomProjectAccess): Capability[] => [
  ...listProjectWorkspaceCapabilities(access),
  ...(['locking', 'create', 'move', 'delete'] as const).filter((field) => access[field]),
  ...expandScale(PROJECT_SETTINGS, access.project.settings, 'project-settings'),
  ...expandScale(PROJECT_TEAMS, access.project.teams, 'project-teams'),
  ...expandScale(VARIABLE_SETS, access.project.variableSets, 'variable-sets'),
];

/**
 * Capabilities of a run on workspaces that share their state, and on its own workspace. Locking is not included,
 * because the run holds the lock.
 */
const SHARED_STATE_CAPABILITIES = ['see', ...expandScale(STATE_VERSIONS, 'read', 'state-versions')] as const;
const OWN_WORKSPACE_CAPABILITIES = [...SHARED_STATE_CAPABILITIES, 'configurations:read', 'variables:read'] as const;
const RUN_CAPABILITIES = {
  'run own': OWN_WORKSPACE_CAPABILITIES,
  // Only while applying: callers that may queue a plan can run their code with this token, and may not change the
  // state.
  'run applying': [...OWN_WORKSPACE_CAPABILITIES, 'state-versions:write'],
  'run consumer': SHARED_STATE_CAPABILITIES,
} as const;

/** Computed once, because every request looks them up. */
const FIXED_LEVEL_CAPABILITIES: ReadonlyMap<string, ReadonlySet<Capability>> = new Map(
  [
    ...Object.entries(WORKSPACE_LEVEL_ACCESS).map(
      ([level, access]) => [`workspace ${level}`, listWorkspaceCapabilities(access)] as const,
    ),
    ...Object.entries(PROJECT_LEVEL_ACCESS).map(
      ([level, access]) => [`project ${level}`, listProjectCapabilities(access)] as const,
    ),
    ['project passage', ['project-settings:read']] as const,
    ['team member', ['own-team-tokens']] as const,
    ...Object.entries(RUN_CAPABILITIES),
  ].map(([name, capabilities]) => [
    name,
    new Set<Capability>([...capabilities, ...(UNLISTED_CAPABILITIES[name] ?? [])]),
  ]),
);

export const expandCapabilities = (grant: Grant): ReadonlySet<Capability> => {
  if (grant.level !== 'custom') return FIXED_LEVEL_CAPABILITIES.get(`${grant.on} ${grant.level}`) ?? new Set();
  return new Set(
    grant.on === 'workspace' ? listWorkspaceCapabilities(grant.custom) : listProjectCapabilities(grant.custom),
  );
};

/** Returns the fixed levels that include a capability, such as `workspace read`. */
export const listLevelsGranting = (capability: Capability): readonly string[] =>
  [...FIXED_LEVEL_CAPABILITIES].filter(([, capabilities]) => capabilities.has(capability)).map(([name]) => name);

export const hasCapability = (grants: readonly Grant[], capability: Capability): boolean =>
  grants.some((grant) => expandCapabilities(grant).has(capability));
