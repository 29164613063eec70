import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Refusal } from '#kernel';
import type { Identity, Role } from '../authentication/actor.js';
import {
  PROJECT_FIELDS,
  WORKSPACE_FIELDS,
  type Grant,
  type ProjectAccess,
  type ProjectWorkspaceAccess,
  type WorkspaceAccess,
} from './grants.js';
import { ORGANIZATION_ACCESS } from './organization-access.js';
import { requirePermission, can, permissions, SITE_SCOPE, type Permission } from './permissions.js';

const ALL = Object.keys(permissions) as Permission[];

const identity = (standing: readonly Role[], more: Partial<Identity> = {}): Identity => ({
  kind: 'user',
  id: 'user-1',
  name: 'ada',
  siteAdmin: false,
  teams: [],
  standings: new Map([['org-1', new Set(standing)]]),
  closedTo: new Set(),
  expiredAt: null,
  token: null,
  subjects: '{}',
  epoch: 0,
  snapshot: null,
  ...more,
});

const HERE = { organization: 'org-1' };
const SOMEBODY = identity([]);
const SITE_ADMIN = identity([], { siteAdmin: true, standings: new Map() });

const allowed = (actor: Identity, place: Parameters<typeof can>[2] = HERE): Permission[] =>
  ALL.filter((permission) => can(actor, permission, place)).toSorted();

// The table as it is meant (contract §5, clients.md §3), read the other way: one kind of caller after the other. Who
// changes a rule changes a line here and sees whom it concerns.

/** Refused with 403 and the reason: the contract says so, or the caller may read the resource and needs to know why. */
const FORBIDDEN: ReadonlySet<Permission> = new Set([
  'force-delete-workspace',
  'force-delete-own-workspace',
  'change-project-execution',
  'manage-remote-agent-pools',
]);

const LOOKS_AROUND: readonly Permission[] = [
  'list-organization',
  'read-organization',
  'read-entitlements',
  'read-user',
  'read-memberships',
  'read-teams',
  'read-agent-pools',
  'read-reserved-tag-keys',
  'read-providers',
];

/** What `runs: read` is worth, the least that anybody can be given on a workspace. */
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
/** Settings of a workspace and who has access; an organization token does all of it, too. */
const ADMINISTERS: readonly Permission[] = [
  'update-workspace',
  'delete-workspace',
  'force-delete-own-workspace',
  'force-unlock-workspace',
  'manage-workspace-access',
];
/** What nobody does with an organization token: keys, other people's runs, the bytes of states. */
const ADMINISTERS_RUNS_AND_STATE: readonly Permission[] = [
  'assign-ssh-key',
  'manage-data-retention',
  'force-cancel-run',
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
  'forget-user',
  'manage-subscription',
  'manage-user-tokens',
  'update-account',
  'change-email',
  'accept-membership',
  'leave-organization',
  'read-audit-trail',
  'execute-run',
];

/** What each standing in an organization is worth there, everywhere in it. */
const OF_STANDING: Readonly<Record<Exclude<Role, 'user-token' | 'site-admin'>, readonly Permission[]>> = {
  owner: ALL.filter((permission) => !NOT_OF_OWNERS.includes(permission)),
  'organization-token': [
    ...LOOKS_AROUND,
    ...MANAGES_PEOPLE,
    ...MANAGES_ALL_WORKSPACES,
    ...MANAGES_ALL_PROJECTS,
    'manage-agent-pools',
    'read-audit-trail',
    'report-facts',
  ],
  'audit-token': ['list-organization', 'read-audit-trail'],
  agent: ['execute-run'],
  run: ['read-entitlements', 'read-providers'],
  member: LOOKS_AROUND,
  readWorkspaces: READS_ALL,
  readProjects: READS_ALL,
  manageWorkspaces: WORKS_IN_ALL_WORKSPACES,
  manageProjects: [...WORKS_IN_ALL_WORKSPACES, ...MANAGES_ALL_PROJECTS],
  manageRunTasks: ['manage-run-tasks'],
  manageVcsSettings: ['read-ssh-keys', 'manage-ssh-keys'],
  manageAgentPools: ['manage-agent-pools', 'manage-agent-tokens'],
  manageMembership: ['manage-memberships', 'manage-team-membership'],
  manageTeams: ['manage-teams', 'manage-team-tokens'],
  delegatePolicyOverrides: [],
  manageOrganizationAccess: ['manage-organization-access'],
  accessSecretTeams: ['read-secret-teams'],
  manageProviders: ['manage-providers'],
  // Modules and policies have nothing to manage yet.
  manageModules: [],
  managePolicies: [],
  managePolicyOverrides: [],
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

/** What each level is worth at its place. */
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

/** What each field of `custom` is worth, value by value, written out without a ladder. */
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
  // Nobody asks for mocks yet.
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

const OF_ONES_OWN: readonly Permission[] = [
  'read-user',
  'update-account',
  'manage-user-tokens',
  'read-memberships',
  'accept-membership',
  'leave-organization',
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

describe('the kinds of callers', () => {
  it('nobody may do nothing', () => {
    expect(allowed(SOMEBODY)).toEqual([]);
  });

  it.each(Object.entries(OF_STANDING))('%s may do that everywhere in the organization', (standing, expected) => {
    expect(allowed(identity([standing as Role]))).toEqual(sorted(expected));
  });

  it('every flag of the organization access is among them', () => {
    expect(Object.keys(OF_STANDING)).toEqual(expect.arrayContaining([...ORGANIZATION_ACCESS]));
  });

  it('an owner has what organization tokens and members of any team have, but for the trail', () => {
    const others = Object.entries(OF_STANDING)
      .filter(([standing]) => standing !== 'agent')
      .flatMap(([, words]) => words);
    expect(others.filter((word) => !OF_STANDING.owner.includes(word))).toEqual([
      'read-audit-trail',
      'read-audit-trail',
    ]);
  });

  it('an organization token runs nothing, stores no state and handles no keys', () => {
    expect(
      OF_STANDING['organization-token'].filter((word) =>
        [...PLANS, 'apply-run', 'create-state', 'read-ssh-keys', 'manage-ssh-keys', 'assign-ssh-key'].includes(word),
      ),
    ).toEqual([]);
  });

  it('a site admin is an owner everywhere, and has the site', () => {
    const expected = sorted([
      ...OF_STANDING.owner,
      'create-organization',
      'manage-site',
      'forget-user',
      'manage-subscription',
      'manage-user-tokens',
      'change-email',
      'accept-membership',
    ]);
    expect(allowed(SITE_ADMIN, { organization: 'org-of-somebody' })).toEqual(expected);
    expect(allowed(SITE_ADMIN, SITE_SCOPE)).toEqual(expected);
  });

  it('anybody with a user token may found an organization; no other kind of token may do anything at the site', () => {
    expect(allowed(SOMEBODY, SITE_SCOPE)).toEqual(['create-organization']);
    expect(allowed(identity(['owner']), SITE_SCOPE)).toEqual(['create-organization']);
    for (const kind of ['team', 'organization', 'audit-trails', 'agent', 'run'] as const) {
      expect([kind, allowed(identity(['owner'], { kind }), SITE_SCOPE)]).toEqual([kind, []]);
    }
  });

  it('a user has that over what is their own, in any organization and at the site', () => {
    expect(allowed(SOMEBODY, { organization: 'org-2', user: 'user-1' })).toEqual(sorted(OF_ONES_OWN));
    expect(allowed(SOMEBODY, { organization: null, user: 'user-1' })).toEqual(
      sorted([...OF_ONES_OWN, 'create-organization']),
    );
    expect(allowed(SOMEBODY, { organization: 'org-2', user: 'user-2' })).toEqual([]);
  });

  it('no token but a user’s is anybody’s own', () => {
    for (const kind of ['team', 'organization', 'audit-trails', 'agent', 'run'] as const) {
      expect(allowed(identity([], { kind }), { ...HERE, user: 'user-1' })).toEqual([]);
    }
  });
});

describe('what a team has been given', () => {
  it.each(Object.entries(OF_LEVEL))('%s is worth that, there', (words, expected) => {
    const [on, level] = words.split(' ');
    expect(allowed(SOMEBODY, one({ on, level } as Grant))).toEqual(sorted(expected));
  });

  it('custom on a workspace is worth what each of its fields says', () => {
    expect(allowed(SOMEBODY, one(inWorkspace({})))).toEqual(sorted(SEES_WORKSPACES));
    for (const [field, value] of valuesOf(WORKSPACE_FIELDS, ['workspaceLocking', 'runTasks', 'policyOverrides'])) {
      const expected = sorted([...SEES_WORKSPACES, ...worthOfField(field, value)]);
      expect([field, value, allowed(SOMEBODY, one(inWorkspace({ [field]: value })))]).toEqual([field, value, expected]);
    }
  });

  it('custom on a project is worth what each of its fields says', () => {
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

/** Each field with each of its values. */
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

describe('what a caller may do', () => {
  const standings = fc.uniqueArray(fc.constantFrom(...(Object.keys(OF_STANDING) as (keyof typeof OF_STANDING)[])), {
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

  it('is the sum of all that they are and all that they have been given: the highest of all paths counts', () => {
    fc.assert(
      fc.property(standings, anyGrants, fc.boolean(), (standing, grants, own) => {
        const place = { ...HERE, grants, ...(own ? { user: 'user-1' } : {}) };
        const words = [
          ...standing.flatMap((what) => OF_STANDING[what]),
          ...grants.flatMap(worthOf),
          ...(own ? OF_ONES_OWN : []),
        ];
        expect(allowed(identity(standing), place)).toEqual(sorted(words));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is nothing in an organization that they have no part in, whatever they are elsewhere', () => {
    fc.assert(
      fc.property(standings, (standing) => {
        expect(allowed(identity(standing), { organization: 'org-2' })).toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('never shrinks with one more standing, or one more team', () => {
    fc.assert(
      fc.property(standings, anyGrants, standings, anyGrants, (standing, grants, more, others) => {
        const before = allowed(identity(standing), { ...HERE, grants });
        const after = allowed(identity([...standing, ...more]), { ...HERE, grants: [...grants, ...others] });
        expect(before.filter((permission) => !after.includes(permission))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('is refused as forbidden if the caller may know the resource, else as not found', () => {
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

  it('passes without a word where it is allowed', () => {
    expect(requirePermission(identity(['owner']), 'update-organization', HERE)).toBeUndefined();
  });
});
