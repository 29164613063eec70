import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Refused } from '#kernel';
import type { Identity, Standing } from './actor.js';
import { demand, may, permissions, WORKSPACE_LEVELS, type Permission, type WorkspaceLevel } from './permissions.js';
import { ORGANIZATION_ACCESS } from './team.js';

const ALL = Object.keys(permissions) as Permission[];
const STANDINGS: readonly Standing[] = ['owner', 'member', 'organization-token', 'audit-token', ...ORGANIZATION_ACCESS];

const identity = (standing: readonly Standing[], more: Partial<Identity> = {}): Identity => ({
  kind: 'user',
  id: 'user-1',
  name: 'ada',
  siteAdmin: false,
  teams: [],
  standings: new Map([['org-1', new Set(standing)]]),
  expiredAt: null,
  epoch: 0,
  ...more,
});

const HERE = { organization: 'org-1' };
const allowed = (actor: Identity, level: WorkspaceLevel | null = null): Permission[] =>
  ALL.filter((permission) => may(actor, permission, { ...HERE, level }));

describe('what a caller may do', () => {
  type Row = {
    readonly organization: readonly Standing[];
    readonly workspace?: WorkspaceLevel;
    readonly refusal?: 'forbidden';
  };
  const rowOf = (permission: Permission): Row => permissions[permission];

  /** The same question, answered the long way: every way in which a row could be satisfied is written out and tried. */
  const mayInWords = (standing: readonly Standing[], permission: Permission, level: WorkspaceLevel | null): boolean => {
    const { organization, workspace } = rowOf(permission);
    for (const sufficient of organization) {
      for (const held of standing) if (held === sufficient) return true;
    }
    if (workspace === undefined || level === null) return false;
    switch (workspace) {
      case 'read':
        return true;
      case 'plan':
        return level !== 'read';
      case 'write':
        return level === 'write' || level === 'admin';
      case 'admin':
        return level === 'admin';
    }
  };

  const standings = fc.uniqueArray(fc.constantFrom(...STANDINGS), { maxLength: 5 });
  const levels = fc.constantFrom<WorkspaceLevel | null>(null, ...WORKSPACE_LEVELS);
  const anyPermission = fc.constantFrom(...ALL);

  it('is what the table says, whatever they are', () => {
    fc.assert(
      fc.property(standings, anyPermission, levels, (standing, permission, level) => {
        expect(may(identity(standing), permission, { ...HERE, level })).toBe(mayInWords(standing, permission, level));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is nothing in an organization that they have no part in, whatever they are elsewhere', () => {
    fc.assert(
      fc.property(standings, anyPermission, (standing, permission) => {
        expect(may(identity(standing), permission, { organization: 'org-2' })).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('never shrinks with a higher level or one more standing', () => {
    fc.assert(
      fc.property(standings, anyPermission, fc.constantFrom(...STANDINGS), (standing, permission, one) => {
        const reach = [null, ...WORKSPACE_LEVELS].map((level) =>
          may(identity(standing), permission, { ...HERE, level }),
        );
        expect(reach).toEqual(reach.toSorted());
        const before = may(identity(standing), permission, HERE);
        expect(may(identity([...standing, one]), permission, HERE) || !before).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('is refused as the table says: forbidden where the contract names 403, else as if nothing were there', () => {
    for (const permission of ALL) {
      let refused: unknown;
      try {
        demand(identity([]), permission, HERE);
      } catch (error) {
        refused = error;
      }
      expect(refused).toBeInstanceOf(Refused);
      expect([permission, (refused as Refused).kind]).toEqual([
        permission,
        permission.startsWith('force-delete') ? 'forbidden' : 'not-found',
      ]);
    }
  });

  it('passes without a word where it is allowed', () => {
    expect(demand(identity(['owner']), 'update-organization', HERE)).toBeUndefined();
  });
});

// The table as it is meant (contract §5, clients.md §3), one kind of caller after the other. Who changes a rule changes
// a line here and sees whom it concerns.
describe('the kinds of callers', () => {
  const READS = ['read-organization', 'read-entitlements', 'read-teams', 'read-projects'];
  const READS_WORKSPACES = ['read-workspace', 'read-runs', 'read-variables', 'read-state-outputs', 'read-state'];
  const MANAGES_WORKSPACES = [
    ...READS_WORKSPACES,
    'create-workspace',
    'update-workspace',
    'delete-workspace',
    'force-delete-own-workspace',
    'lock-workspace',
    'force-unlock-workspace',
    'tag-workspace',
    'update-variables',
  ];
  const MANAGES_PROJECTS = ['create-project', 'update-project', 'delete-project'];
  const STORES_AND_RUNS = ['queue-run', 'apply-run', 'create-state'];

  it.each<[string, readonly Standing[], readonly string[]]>([
    ['nobody may do nothing', [], []],
    ['a member looks around', ['member'], READS],
    ['an audit token may do nothing but read the trail', ['audit-token'], ['read-audit-trail']],
    [
      'an organization token manages teams, projects and workspaces, reads the trail, and uploads no state',
      ['organization-token'],
      [...READS, 'read-audit-trail', 'manage-team-tokens', ...MANAGES_PROJECTS, ...MANAGES_WORKSPACES],
    ],
    [
      'an owner may do everything but read the trail',
      ['owner'],
      ALL.filter((permission) => permission !== 'read-audit-trail'),
    ],
    ['who reads workspaces reads them all', ['readWorkspaces'], READS_WORKSPACES],
    ['who reads projects reads what is in them', ['readProjects'], READS_WORKSPACES],
    ['who manages projects reads what is in them', ['manageProjects'], [...MANAGES_PROJECTS, ...READS_WORKSPACES]],
    ['who manages workspaces works in them', ['manageWorkspaces'], [...MANAGES_WORKSPACES, ...STORES_AND_RUNS]],
    ['who manages run tasks manages those', ['manageRunTasks'], ['manage-run-tasks']],
    ['who manages teams has nothing to manage yet', ['manageTeams', 'manageMembership'], []],
  ])('%s', (_, standing, expected) => {
    expect(allowed(identity(standing)).toSorted()).toEqual([...expected].toSorted());
  });

  it('a site admin is an owner everywhere', () => {
    const admin = identity([], { siteAdmin: true, standings: new Map() });
    const everywhere = ALL.filter((permission) => may(admin, permission, { organization: 'org-of-somebody' }));
    expect(everywhere).toEqual(allowed(identity(['owner'])));
  });

  it.each<[WorkspaceLevel, readonly string[]]>([
    ['read', READS_WORKSPACES],
    ['plan', [...READS_WORKSPACES, 'queue-run']],
    ['write', [...READS_WORKSPACES, ...STORES_AND_RUNS, 'lock-workspace', 'tag-workspace', 'update-variables']],
    [
      'admin',
      [
        ...MANAGES_WORKSPACES.filter((permission) => permission !== 'create-workspace'),
        ...STORES_AND_RUNS,
        'manage-run-tasks',
      ],
    ],
  ])('a team with %s on a workspace has that, there', (level, expected) => {
    expect(allowed(identity([]), level).toSorted()).toEqual([...expected].toSorted());
  });
});
