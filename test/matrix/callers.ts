import {
  NO_ORGANIZATION_ACCESS,
  ORGANIZATION_ACCESS,
  type Grant,
  type Identity,
  type OrganizationAccess,
  type ProjectAccess,
  type ProjectLevel,
  type ProjectWorkspaceAccess,
  type Role,
  type WorkspaceAccess,
  type WorkspaceLevel,
} from '#api/access';

/** Access of the caller's only team: to the workspace `one`, or to its project. */
export type CallerSetup = Extract<Grant, { on: 'workspace' | 'project' }>;

/** A kind of caller. world.ts creates everything that is described here over HTTP. */
export type MatrixCaller = {
  readonly name: string;
  /** Kind of the token, or why the token is not valid. */
  readonly authentication:
    Identity['kind'] | 'without a token' | 'with a wrong token' | 'with an expired token' | 'with a revoked token';
  /** Roles in acme. */
  readonly roles: readonly Role[];
  readonly access?: OrganizationAccess;
  readonly setup?: CallerSetup;
  /** Workspace of the run that the token belongs to: `one`, its consumer `beside`, or `far`. */
  readonly run?: 'own' | 'consumer' | 'stranger';
  readonly siteAdmin?: true;
  /** Whether the agent belongs to a pool of the site. */
  readonly siteAgent?: true;
  /** Whether the person uses a session instead of a token. */
  readonly session?: true;
  /** The caller owns another organization instead. */
  readonly foreign?: true;
  readonly invited?: true;
};

const LEAST_ON_WORKSPACE: WorkspaceAccess = {
  runs: 'read',
  variables: 'none',
  stateVersions: 'none',
  sentinelMocks: 'none',
  workspaceLocking: false,
  runTasks: false,
  policyOverrides: false,
};
const LEAST_IN_PROJECT: ProjectWorkspaceAccess = {
  runs: 'read',
  variables: 'none',
  stateVersions: 'none',
  sentinelMocks: 'none',
  runTasks: false,
  policyOverrides: false,
  create: false,
  locking: false,
  delete: false,
  move: false,
};
const LEAST_ON_PROJECT: ProjectAccess = { settings: 'read', teams: 'none', variableSets: 'none' };

/** Returns a member whose only team has this access. */
const member = (name: string, setup?: CallerSetup): MatrixCaller => ({
  name,
  authentication: 'user',
  roles: ['member'],
  ...(setup ? { setup } : {}),
});

const levels: readonly MatrixCaller[] = [
  ...(['read', 'plan', 'write', 'admin'] as const satisfies readonly WorkspaceLevel[]).map((level) =>
    member(`${level} on the workspace`, { on: 'workspace', level }),
  ),
  ...(['read', 'write', 'maintain', 'admin'] as const satisfies readonly ProjectLevel[]).map((level) =>
    member(`${level} on the project`, { on: 'project', level }),
  ),
];

const custom = <T>(field: keyof T & string, values: readonly T[keyof T][]): [string, Partial<T>][] =>
  values.map((value) => [`${field} ${String(value)}`, { [field]: value } as Partial<T>]);

/** Each field of `custom` alone, with each of its values. */
const customOnWorkspace: readonly MatrixCaller[] = [
  ...custom<WorkspaceAccess>('runs', ['read', 'plan', 'apply']),
  ...custom<WorkspaceAccess>('variables', ['read', 'write']),
  ...custom<WorkspaceAccess>('stateVersions', ['read-outputs', 'read', 'write']),
  ...custom<WorkspaceAccess>('sentinelMocks', ['read']),
  ...custom<WorkspaceAccess>('workspaceLocking', [true]),
  ...custom<WorkspaceAccess>('runTasks', [true]),
].map(([name, field]) =>
  member(`custom on the workspace, ${name}`, {
    on: 'workspace',
    level: 'custom',
    custom: { ...LEAST_ON_WORKSPACE, ...field },
  }),
);

const customInProject: readonly MatrixCaller[] = [
  ...custom<ProjectWorkspaceAccess>('runs', ['read', 'plan', 'apply']),
  ...custom<ProjectWorkspaceAccess>('variables', ['read', 'write']),
  ...custom<ProjectWorkspaceAccess>('stateVersions', ['read-outputs', 'read', 'write']),
  ...custom<ProjectWorkspaceAccess>('sentinelMocks', ['read']),
  ...custom<ProjectWorkspaceAccess>('runTasks', [true]),
  ...custom<ProjectWorkspaceAccess>('create', [true]),
  ...custom<ProjectWorkspaceAccess>('locking', [true]),
  ...custom<ProjectWorkspaceAccess>('delete', [true]),
  ...custom<ProjectWorkspaceAccess>('move', [true]),
].map(([name, field]) =>
  member(`custom on the project, ${name}`, {
    on: 'project',
    level: 'custom',
    custom: { ...LEAST_IN_PROJECT, ...field, project: LEAST_ON_PROJECT },
  }),
);

const customOnProject: readonly MatrixCaller[] = [
  ...custom<ProjectAccess>('settings', ['update', 'delete']),
  ...custom<ProjectAccess>('teams', ['read', 'manage']),
  ...custom<ProjectAccess>('variableSets', ['read', 'write']),
].map(([name, field]) =>
  member(`custom on the project, ${name}`, {
    on: 'project',
    level: 'custom',
    custom: { ...LEAST_IN_PROJECT, project: { ...LEAST_ON_PROJECT, ...field } },
  }),
);

const organizationAccess: readonly MatrixCaller[] = ORGANIZATION_ACCESS.map((flag) => ({
  name: `${flag} in the organization`,
  authentication: 'user',
  roles: ['member', flag],
  access: { ...NO_ORGANIZATION_ACCESS, [flag]: true },
}));

const unknown = (authentication: MatrixCaller['authentication']): MatrixCaller => ({
  name: authentication,
  authentication,
  roles: [],
});

/** All kinds of callers of the matrix. Add a new kind of caller here. */
export const CALLERS: readonly MatrixCaller[] = [
  unknown('without a token'),
  unknown('with a wrong token'),
  unknown('with an expired token'),
  unknown('with a revoked token'),
  { name: 'owner of another organization', authentication: 'user', roles: [], foreign: true },
  { name: 'invited, not accepted', authentication: 'user', roles: [], invited: true },
  member('member of a team without access'),
  ...levels,
  ...customOnWorkspace,
  ...customInProject,
  ...customOnProject,
  ...organizationAccess,
  { name: 'owner', authentication: 'user', roles: ['member', 'owner'] },
  { name: 'owner with a session', authentication: 'user', roles: ['member', 'owner'], session: true },
  { ...member('write on the workspace, with a session', { on: 'workspace', level: 'write' }), session: true },
  { name: 'site admin', authentication: 'user', roles: [], siteAdmin: true },
  {
    name: 'token of a team, write',
    authentication: 'team',
    roles: ['member'],
    setup: { on: 'workspace', level: 'write' },
  },
  { name: 'token of the owners', authentication: 'team', roles: ['member', 'owner'] },
  { name: 'token of the organization', authentication: 'organization', roles: ['organization-token'] },
  { name: 'token for the audit trail', authentication: 'audit-trails', roles: ['audit-token'] },
  { name: 'token of an agent', authentication: 'agent', roles: ['agent'] },
  { name: 'token of an agent of the site', authentication: 'agent', roles: [], siteAgent: true },
  { name: 'token for SCIM', authentication: 'scim', roles: [] },
  { name: 'token of a run in the workspace', authentication: 'run', roles: ['run'], run: 'own' },
  { name: 'token of a run in a consumer', authentication: 'run', roles: ['run'], run: 'consumer' },
  { name: 'token of a run elsewhere', authentication: 'run', roles: ['run'], run: 'stranger' },
];
