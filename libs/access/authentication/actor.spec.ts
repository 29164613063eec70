import { describe, expect, it } from '@jest/globals';
import {
  createEventContext,
  countOwned,
  getRolesIn,
  computeRoles,
  createSystemContext,
  type Actor,
  type Identity,
  type TeamRow,
} from './actor.js';
import { NO_ORGANIZATION_ACCESS, type OrganizationAccess } from '../permissions/organization-access.js';

const inTeam = (organization: string, name: string, access: Partial<OrganizationAccess> = {}): TeamRow => ({
  id: `team-${name}`,
  organization,
  owners: name === 'owners',
  access: { ...NO_ORGANIZATION_ACCESS, ...access },
});

const actor: Actor = {
  kind: 'team',
  id: 'team-1',
  name: 'core',
  siteAdmin: false,
  teams: ['team-1'],
  standings: computeRoles([inTeam('org-1', 'core')]),
  closedTo: new Set(),
  expiredAt: null,
  token: 'at-1',
  subjects: '{team-1}',
  epoch: 3,
  snapshot: null,
  request: { id: 'a-request', address: '192.0.2.1', userAgent: 'terraform' },
};

describe('what somebody is in an organization', () => {
  it('is the sum of what their teams give', () => {
    const standings = computeRoles([
      inTeam('org-1', 'core', { manageWorkspaces: true }),
      inTeam('org-1', 'readers', { readProjects: true }),
      inTeam('org-2', 'guests'),
    ]);
    expect(standings).toEqual(
      new Map([
        ['org-1', new Set(['member', 'manageWorkspaces', 'readProjects'])],
        ['org-2', new Set(['member'])],
      ]),
    );
  });

  it('is owner by the owners team alone, and there alone', () => {
    const standings = computeRoles([inTeam('org-1', 'owners'), inTeam('org-2', 'Owners'), inTeam('org-2', 'core')]);
    expect(standings.get('org-1')).toEqual(new Set(['member', 'owner']));
    expect(standings.get('org-2')).toEqual(new Set(['member']));
  });

  it('is owner by which team it is, whatever the team is called', () => {
    const owners = [{ ...inTeam('org-1', 'bosses'), owners: true }];
    const namedSo = [{ ...inTeam('org-1', 'owners'), owners: false }];
    expect(computeRoles(owners).get('org-1')).toContain('owner');
    expect(computeRoles(namedSo).get('org-1')).toEqual(new Set(['member']));
  });

  it('is member by membership alone, and no less by the teams that come with it', () => {
    const standings = computeRoles([inTeam('org-2', 'core', { manageTeams: true })], ['org-1', 'org-2']);
    expect(standings).toEqual(
      new Map([
        ['org-1', new Set(['member'])],
        ['org-2', new Set(['member', 'manageTeams'])],
      ]),
    );
  });

  it('counts the organizations that they own', () => {
    const teams = [inTeam('org-1', 'owners'), inTeam('org-2', 'core'), inTeam('org-3', 'owners')];
    expect(countOwned({ ...actor, standings: computeRoles(teams) })).toBe(2);
  });

  it('is nothing where they have no team', () => {
    expect(getRolesIn(actor, 'org-1')).toEqual(new Set(['member']));
    expect(getRolesIn(actor, 'org-2')).toEqual(new Set());
  });

  it('is owner wherever a site admin goes', () => {
    expect(getRolesIn({ ...actor, siteAdmin: true }, 'org-2')).toContain('owner');
  });
});

describe('what somebody is at the site', () => {
  const standing = (more: Partial<Identity>): string[] => [...getRolesIn({ ...actor, ...more }, null)].toSorted();

  it('is a user with a token, for users', () => {
    expect(standing({ kind: 'user' })).toEqual(['user-token']);
  });

  it.each(['team', 'organization', 'audit-trails', 'agent'] as const)('is nothing for a token of kind %s', (kind) => {
    expect(standing({ kind })).toEqual([]);
  });

  it('is its administrator for a site admin, who counts as owner there too', () => {
    expect(standing({ kind: 'user', siteAdmin: true })).toEqual(['member', 'owner', 'site-admin', 'user-token']);
  });
});

describe('what an event keeps of who did it', () => {
  it('is the caller, and how the request came', () => {
    expect(createEventContext(actor)).toEqual({
      accessor: { id: 'team-1', type: 'teams', name: 'core' },
      auth: 'Client',
      impersonator: null,
      request: { id: 'a-request', address: '192.0.2.1', userAgent: 'terraform' },
      correlation: 'a-request',
      causation: null,
    });
  });

  it.each([
    ['user', 'users'],
    ['organization', 'organizations'],
    ['audit-trails', 'organizations'],
    ['agent', 'agent-pools'],
  ] as const)('names a %s token’s caller by the type %s', (kind, type) => {
    expect(createEventContext({ ...actor, kind }).accessor.type).toBe(type);
  });

  it('is the system where nobody asked', () => {
    expect(createSystemContext('command line', 'c-1')).toMatchObject({
      accessor: { id: 'system', name: 'command line' },
      auth: 'System',
      correlation: 'c-1',
      request: { id: null },
    });
  });
});
