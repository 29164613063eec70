import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Refusal } from '#platform/kernel';
import type { Identity, Role } from '../callers/actor.js';
import { UNRESTRICTED } from '../callers/token-restriction.js';
import {
  PROJECT_FIELDS,
  WORKSPACE_FIELDS,
  type Grant,
  type ProjectAccess,
  type ProjectWorkspaceAccess,
  type WorkspaceAccess,
} from './grants.js';
import { ORGANIZATION_ACCESS } from '../callers/organization-access.js';
import { requirePermission, can, permissions, SITE_SCOPE, type Permission } from './permissions.js';

const ALL = Object.keys(permissions) as Permission[];

const identity = (roles: readonly Role[], more: Partial<Identity> = {}): Identity => ({
  kind: 'user',
  id: 'user-1',
  name: 'ada',
  siteAdmin: false,
  credential: 'token',
  assurance: null,
  provedAt: null,
  teams: [],
  rolesByOrganization: new Map([['org-1', new Set(roles)]]),
  closedTo: new Map(),
  restriction: UNRESTRICTED,
  expiredAt: null,
  token: null,
  subjects: '{}',
  epoch: 0,
  snapshot: null,
  ...more,
});

const HERE = { organization: 'org-1' };
const SOMEBODY = identity([]);
const SITE_ADMIN = identity([], { siteAdmin: true, rolesByOrganization: new Map() });

const allowed = (actor: Identity, scope: Parameters<typeof can>[2] = HERE): Permission[] =>
  ALL.filter((permission) => can(actor, permission, scope)).toSorted();

// The expected permission table, ordered by kind of caller instead of permission. A
// changed rule requires a change here, which shows the affected callers.

/**
 * Refused with 403 and a reason: clients expect it, or the caller may read the resource and needs the reason.
 */
const FORBIDDEN: ReadonlySet<Permission> = new Set([
  'read-plan-output',
  'force-delete-workspace',
  'override-policies',
  'force-delete-own-workspace',
  'change-project-execution',
  'manage-remote-agent-pools',
  'save-views',
  'delete-saved-view',
]);

const MEMBER_PERMISSIONS: readonly Permission[] = [
  'list-organization',
  'read-organization',
  'read-entitlements',
  'read-user',
  'read-memberships',
  'read-teams',
  'read-agent-pools',
  'read-reserved-tag-keys',
  'read-providers',
  'read-modules',
];

/** Permissions of `runs: read`, the lowest access to a workspace. */
const SEES_WORKSPACES: readonly Permission[] = [
  'read-workspace',
  'read-workspace-history',
  'read-workspace-access',
  'read-runs',
  'read-configuration-version',
];
const READS_WORKSPACES: readonly Permission[] = [
  ...SEES_WORKSPACES,
  'read-variables',
  'read-state-outputs',
  'read-state',
];
const PLANS: readonly Permission[] = ['queue-run', 'comment-run', 'create-configuration-version'];
const LOCKS_TAGS_SETS: readonly Permission[] = ['lock-workspace', 'tag-workspace', 'update-variables'];
const WRITES: readonly Permission[] = [...LOCKS_TAGS_SETS, 'apply-run', 'create-state'];
/** Settings of a workspace and its access. An organization token has all of them. */
const ADMINISTERS: readonly Permission[] = [
  'update-workspace',
  'delete-workspace',
  'force-delete-own-workspace',
  'force-unlock-workspace',
  'manage-workspace-access',
];
/** Permissions that organization tokens never have: keys, runs of other callers, the content of states. */
const ADMINISTERS_RUNS_AND_STATE: readonly Permission[] = [
  'assign-ssh-key',
  'manage-data-retention',
  'force-cancel-run',
  'read-plan-output',
  'delete-state-data',
  'delete-configuration-data',
];
const VARIABLE_SETS: readonly Permission[] = ['read-variable-sets', 'manage-variable-sets'];
const PROJECTS: readonly Permission[] = ['update-project', 'delete-project', 'manage-project-access'];

const READS_ALL: readonly Permission[] = [
  ...READS_WORKSPACES,
  'read-project',
  'read-project-access',
  'read-variable-sets',
];
const MANAGES_ALL_WORKSPACES: readonly Permission[] = [
  ...READS_ALL,
  ...LOCKS_TAGS_SETS,
  ...ADMINISTERS,
  'create-workspace',
  'replace-remote-state-consumers',
  'delete-tags',
  'manage-reserved-tag-keys',
  'manage-variable-sets',
];
const WORKS_IN_ALL_WORKSPACES: readonly Permission[] = [
  ...MANAGES_ALL_WORKSPACES,
  ...PLANS,
  ...WRITES,
  ...ADMINISTERS_RUNS_AND_STATE,
  'read-ssh-keys',
  'read-vcs-connections',
];
const MANAGES_ALL_PROJECTS: readonly Permission[] = [
  ...PROJECTS,
  'change-project-execution',
  'create-project',
  'move-workspace',
];
const MANAGES_PEOPLE: readonly Permission[] = [
  'manage-memberships',
  'manage-team-membership',
  'manage-teams',
  'manage-team-tokens',
  'manage-organization-access',
  'read-secret-teams',
];

const NOT_OF_OWNERS: readonly Permission[] = [
  'create-organization',
  'manage-site',
  'read-site-audit-trail',
  'manage-identity-providers',
  'forget-user',
  'suspend-user',
  'manage-site-admins',
  'disable-two-factor',
  'provision-users',
  'manage-scim-tokens',
  'manage-subscription',
  'manage-sessions',
  'manage-user-tokens',
  'update-account',
  'change-email',
  'accept-membership',
  'leave-organization',
  'save-views',
  'read-audit-trail-of-token',
  'execute-run',
];

const OF_ROLE: Readonly<Record<Exclude<Role, 'user-token' | 'site-admin'>, readonly Permission[]>> = {
  owner: ALL.filter((permission) => !NOT_OF_OWNERS.includes(permission)),
  'organization-token': [
    ...MEMBER_PERMISSIONS,
    ...MANAGES_PEOPLE,
    ...MANAGES_ALL_WORKSPACES,
    ...MANAGES_ALL_PROJECTS,
    'manage-agent-pools',
    'read-policies',
    'manage-policies',
    'read-audit-trail',
    'read-audit-trail-of-token',
    'report-facts',
    'explain-access',
  ],
  scim: ['provision-users'],
  'audit-token': ['list-organization', 'read-audit-trail', 'read-audit-trail-of-token'],
  agent: ['execute-run'],
  run: ['read-entitlements', 'read-providers', 'read-modules'],
  member: MEMBER_PERMISSIONS,
  readWorkspaces: READS_ALL,
  readProjects: READS_ALL,
  manageWorkspaces: WORKS_IN_ALL_WORKSPACES,
  manageProjects: [...WORKS_IN_ALL_WORKSPACES, ...MANAGES_ALL_PROJECTS],
  manageRunTasks: ['manage-run-tasks'],
  manageVcsSettings: ['read-ssh-keys', 'manage-ssh-keys', 'read-vcs-connections', 'manage-vcs-connections'],
  manageAgentPools: ['manage-agent-pools', 'manage-agent-tokens'],
  manageMembership: ['manage-memberships', 'manage-team-membership'],
  manageTeams: ['manage-teams', 'manage-team-tokens'],
  delegatePolicyOverrides: [],
  manageOrganizationAccess: ['manage-organization-access'],
  accessSecretTeams: ['read-secret-teams'],
  manageProviders: ['manage-providers'],
  manageModules: ['manage-modules'],
  managePolicies: ['read-policies', 'manage-policies'],
  managePolicyOverrides: ['read-policies', 'override-policies'],
};

const WORKSPACE_WRITER = [...READS_WORKSPACES, ...PLANS, ...WRITES];
const WORKSPACE_ADMIN = [
  ...WORKSPACE_WRITER,
  ...ADMINISTERS,
  ...ADMINISTERS_RUNS_AND_STATE,
  'manage-run-tasks',
  'change-project-execution',
] as const;
const PROJECT_MAINTAINER = [...WORKSPACE_ADMIN, ...VARIABLE_SETS, 'read-project', 'create-workspace'] as const;

const OF_LEVEL: Readonly<Record<string, readonly Permission[]>> = {
  'workspace read': READS_WORKSPACES,
  'workspace plan': [...READS_WORKSPACES, ...PLANS],
  'workspace write': WORKSPACE_WRITER,
  'workspace admin': WORKSPACE_ADMIN,
  'project read': [...READS_WORKSPACES, 'read-project'],
  'project write': [...WORKSPACE_WRITER, 'read-project'],
  'project maintain': PROJECT_MAINTAINER,
  'project admin': [...PROJECT_MAINTAINER, 'move-workspace', ...PROJECTS, 'read-project-access'],
  'project passage': ['read-project'],
  'team member': ['read-secret-teams', 'manage-team-tokens'],
  'run own': ['read-workspace', 'read-configuration-version', 'read-variables', 'read-state-outputs', 'read-state'],
  'run applying': [
    'read-workspace',
    'read-configuration-version',
    'read-variables',
    'read-state-outputs',
    'read-state',
    'create-state',
  ],
  'run consumer': ['read-workspace', 'read-state-outputs', 'read-state'],
};

/** Permissions that each value of the fields of `custom` gives, listed in full. */
const OF_FIELD: Readonly<Record<string, Readonly<Record<string, readonly Permission[]>>>> = {
  runs: {
    read: SEES_WORKSPACES,
    plan: [...SEES_WORKSPACES, ...PLANS],
    apply: [...SEES_WORKSPACES, ...PLANS, 'apply-run'],
  },
  variables: { none: [], read: ['read-variables'], write: ['read-variables', 'update-variables'] },
  stateVersions: {
    none: [],
    'read-outputs': ['read-state-outputs'],
    read: ['read-state-outputs', 'read-state'],
    write: ['read-state-outputs', 'read-state', 'create-state'],
  },
  // No permission depends on mocks.
  sentinelMocks: { none: [], read: [] },
  workspaceLocking: { false: [], true: ['lock-workspace'] },
  locking: { false: [], true: ['lock-workspace'] },
  runTasks: { false: [], true: ['manage-run-tasks'] },
  policyOverrides: { false: [], true: [] },
  create: { false: [], true: ['create-workspace'] },
  move: { false: [], true: ['move-workspace'] },
  delete: { false: [], true: ['delete-workspace'] },
  settings: {
    read: ['read-project'],
    update: ['read-project', 'update-project'],
    delete: ['read-project', 'update-project', 'delete-project'],
  },
  teams: { none: [], read: ['read-project-access'], manage: ['read-project-access', 'manage-project-access'] },
  variableSets: { none: [], read: ['read-variable-sets'], write: VARIABLE_SETS },
};

const OF_OWN_RESOURCES: readonly Permission[] = [
  'read-user',
  'update-account',
  'manage-sessions',
  'manage-user-tokens',
  'read-memberships',
  'accept-membership',
  'leave-organization',
  'save-views',
  'delete-saved-view',
  'explain-access',
];

const LEAST_ON_WORKSPACE: WorkspaceAccess = {
  runs: 'read',
  variables: 'none',
  stateVersions: 'none',
  sentinelMocks: 'none',
  workspaceLocking: false,
  runTasks: false,
  policyOverrides: false,
};
const LEAST_ON_PROJECT: ProjectWorkspaceAccess & { readonly project: ProjectAccess } = {
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
  project: { settings: 'read', teams: 'none', variableSets: 'none' },
};

const inWorkspace = (custom: Partial<WorkspaceAccess>): Grant => ({
  on: 'workspace',
  level: 'custom',
  custom: { ...LEAST_ON_WORKSPACE, ...custom },
});
const inProject = (custom: Partial<ProjectWorkspaceAccess>, project: Partial<ProjectAccess> = {}): Grant => ({
  on: 'project',
  level: 'custom',
  custom: { ...LEAST_ON_PROJECT, ...custom, project: { ...LEAST_ON_PROJECT.project, ...project } },
});

const worthOfField = (field: string, value: string | boolean): readonly Permission[] => {
  const worth = OF_FIELD[field]?.[String(value)];
  if (!worth) throw new Error(`${field}: ${value} is not written down`);
  return worth;
};

const worthOf = (grant: Grant): readonly Permission[] => {
  if (grant.level !== 'custom') return OF_LEVEL[`${grant.on} ${grant.level}`] ?? [];
  const { project, ...rest } = { project: {}, ...grant.custom };
  return Object.entries({ ...rest, ...project }).flatMap(([field, value]) => worthOfField(field, value));
};

const sorted = (words: readonly Permission[]): Permission[] => [...new Set(words)].toSorted();
const one = <const G extends Grant>(grant: G): { grants: readonly Grant[]; organization: string } => ({
  ...HERE,
  grants: [grant],
});

describe('callers by kind', () => {
  it('a caller without a role has no permission', () => {
    expect(allowed(SOMEBODY)).toEqual([]);
  });

  it.each(Object.entries(OF_ROLE))(
    'the role %s gives its permissions in the complete organization',
    (role, expected) => {
      expect(allowed(identity([role as Role]))).toEqual(sorted(expected));
    },
  );

  it('every flag of the organization access has a list of permissions', () => {
    expect(Object.keys(OF_ROLE)).toEqual(expect.arrayContaining([...ORGANIZATION_ACCESS]));
  });

  it('the role owner gives all permissions of other roles, except reading the audit trail', () => {
    const otherPermissions = Object.entries(OF_ROLE)
      .filter(([role]) => role !== 'agent' && role !== 'scim')
      .flatMap(([, words]) => words);
    expect(otherPermissions.filter((word) => !OF_ROLE.owner.includes(word))).toEqual([
      'read-audit-trail-of-token',
      'read-audit-trail-of-token',
    ]);
  });

  it('an organization token cannot run, store state or handle keys', () => {
    expect(
      OF_ROLE['organization-token'].filter((word) =>
        [
          ...PLANS,
          'apply-run',
          'create-state',
          'read-ssh-keys',
          'manage-ssh-keys',
          'assign-ssh-key',
          'read-vcs-connections',
          'manage-vcs-connections',
        ].includes(word),
      ),
    ).toEqual([]);
  });

  it('a site admin is an owner of every organization, and administers the site', () => {
    const expected = sorted([
      ...OF_ROLE.owner,
      'create-organization',
      'manage-site',
      'read-site-audit-trail',
      'manage-identity-providers',
      'forget-user',
      'suspend-user',
      'manage-site-admins',
      'disable-two-factor',
      'manage-scim-tokens',
      'manage-subscription',
      'manage-sessions',
      'manage-user-tokens',
      'change-email',
      'accept-membership',
    ]);
    expect(allowed(SITE_ADMIN, { organization: 'org-of-somebody' })).toEqual(expected);
    expect(allowed(SITE_ADMIN, SITE_SCOPE)).toEqual(expected);
  });

  it('a user token may create an organization; other tokens have no permission at the site', () => {
    expect(allowed(SOMEBODY, SITE_SCOPE)).toEqual(['create-organization']);
    expect(allowed(identity(['owner']), SITE_SCOPE)).toEqual(['create-organization']);
    for (const kind of ['team', 'organization', 'audit-trails', 'agent', 'run'] as const) {
      expect([kind, allowed(identity(['owner'], { kind }), SITE_SCOPE)]).toEqual([kind, []]);
    }
  });

  it('a user has permissions on their own resources, in any organization and at the site', () => {
    expect(allowed(SOMEBODY, { organization: 'org-2', user: 'user-1' })).toEqual(sorted(OF_OWN_RESOURCES));
    expect(allowed(SOMEBODY, { organization: null, user: 'user-1' })).toEqual(
      sorted([...OF_OWN_RESOURCES, 'create-organization']),
    );
    expect(allowed(SOMEBODY, { organization: 'org-2', user: 'user-2' })).toEqual([]);
  });

  it('any other token has no own resources', () => {
    for (const kind of ['team', 'organization', 'audit-trails', 'agent', 'run'] as const) {
      expect(allowed(identity([], { kind }), { ...HERE, user: 'user-1' })).toEqual([]);
    }
  });
});

describe('grants of a team', () => {
  it.each(Object.entries(OF_LEVEL))('the level %s gives its permissions', (words, expected) => {
    const [on, level] = words.split(' ');
    expect(allowed(SOMEBODY, one({ on, level } as Grant))).toEqual(sorted(expected));
  });

  it('custom access to a workspace gives the permissions of each field', () => {
    expect(allowed(SOMEBODY, one(inWorkspace({})))).toEqual(sorted(SEES_WORKSPACES));
    for (const [field, value] of valuesOf(WORKSPACE_FIELDS, ['workspaceLocking', 'runTasks', 'policyOverrides'])) {
      const expected = sorted([...SEES_WORKSPACES, ...worthOfField(field, value)]);
      expect([field, value, allowed(SOMEBODY, one(inWorkspace({ [field]: value })))]).toEqual([field, value, expected]);
    }
  });

  it('custom access to a project gives the permissions of each field', () => {
    const least = [...SEES_WORKSPACES, 'read-project'] as const;
    expect(allowed(SOMEBODY, one(inProject({})))).toEqual(sorted(least));
    const inside = valuesOf(WORKSPACE_FIELDS, ['create', 'locking', 'delete', 'move', 'runTasks', 'policyOverrides']);
    for (const [field, value] of inside) {
      const expected = sorted([...least, ...worthOfField(field, value)]);
      expect([field, value, allowed(SOMEBODY, one(inProject({ [field]: value })))]).toEqual([field, value, expected]);
    }
    for (const [field, value] of valuesOf(PROJECT_FIELDS, [])) {
      const expected = sorted([...least, ...worthOfField(field, value)]);
      expect([field, value, allowed(SOMEBODY, one(inProject({}, { [field]: value })))]).toEqual([
        field,
        value,
        expected,
      ]);
    }
  });
});

const valuesOf = (
  scales: Readonly<Record<string, readonly string[]>>,
  flags: readonly string[],
): [string, string | boolean][] => [
  ...Object.entries(scales).flatMap(([field, values]) =>
    values.map((value): [string, string | boolean] => [field, value]),
  ),
  ...flags.flatMap((field): [string, string | boolean][] => [
    [field, true],
    [field, false],
  ]),
];

describe('the permissions of a caller', () => {
  const anyRoles = fc.uniqueArray(fc.constantFrom(...(Object.keys(OF_ROLE) as (keyof typeof OF_ROLE)[])), {
    maxLength: 4,
  });
  const scale = <V extends string>(values: readonly V[]): fc.Arbitrary<V> => fc.constantFrom(...values);
  const { runs, variables, stateVersions, sentinelMocks } = WORKSPACE_FIELDS;
  const common = {
    runs: scale(runs),
    variables: scale(variables),
    stateVersions: scale(stateVersions),
    sentinelMocks: scale(sentinelMocks),
    runTasks: fc.boolean(),
    policyOverrides: fc.boolean(),
  };
  const anyGrant: fc.Arbitrary<Grant> = fc.oneof(
    fc.constantFrom(...Object.keys(OF_LEVEL)).map((words) => {
      const [on, level] = words.split(' ');
      return { on, level } as Grant;
    }),
    fc.record({ ...common, workspaceLocking: fc.boolean() }).map(inWorkspace),
    fc
      .record({
        inside: fc.record({
          ...common,
          create: fc.boolean(),
          locking: fc.boolean(),
          delete: fc.boolean(),
          move: fc.boolean(),
        }),
        itself: fc.record({
          settings: scale(PROJECT_FIELDS.settings),
          teams: scale(PROJECT_FIELDS.teams),
          variableSets: scale(PROJECT_FIELDS.variableSets),
        }),
      })
      .map(({ inside, itself }) => inProject(inside, itself)),
  );
  const anyGrants = fc.array(anyGrant, { maxLength: 3 });

  it('are the union of those of all roles, grants and own resources', () => {
    fc.assert(
      fc.property(anyRoles, anyGrants, fc.boolean(), (roles, grants, own) => {
        const scope = { ...HERE, grants, ...(own ? { user: 'user-1' } : {}) };
        const words = [
          ...roles.flatMap((role) => OF_ROLE[role]),
          ...grants.flatMap(worthOf),
          ...(own ? OF_OWN_RESOURCES : []),
        ];
        expect(allowed(identity(roles), scope)).toEqual(sorted(words));
      }),
      { numRuns: 1_000 },
    );
  });

  it('are empty in an organization without roles, whatever roles the caller has elsewhere', () => {
    fc.assert(
      fc.property(anyRoles, (roles) => {
        expect(allowed(identity(roles), { organization: 'org-2' })).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('never shrink with another role or another team', () => {
    fc.assert(
      fc.property(anyRoles, anyGrants, anyRoles, anyGrants, (roles, grants, more, otherGrants) => {
        const before = allowed(identity(roles), { ...HERE, grants });
        const after = allowed(identity([...roles, ...more]), { ...HERE, grants: [...grants, ...otherGrants] });
        expect(before.filter((permission) => !after.includes(permission))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('are refused as forbidden if the caller may know about the resource, else as not found', () => {
    for (const permission of ALL) {
      let refused: unknown;
      try {
        requirePermission(SOMEBODY, permission, permission === 'create-organization' ? HERE : SITE_SCOPE);
      } catch (error) {
        refused = error;
      }
      expect(refused).toBeInstanceOf(Refusal);
      expect([permission, (refused as Refusal).kind]).toEqual([
        permission,
        FORBIDDEN.has(permission) ? 'forbidden' : 'not-found',
      ]);
    }
  });

  it('pass requirePermission if they suffice', () => {
    expect(requirePermission(identity(['owner']), 'update-organization', HERE)).toBeUndefined();
  });
});
