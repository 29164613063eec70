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
import { UNRESTRICTED } from './token-restriction.js';
import { NO_ORGANIZATION_ACCESS, type OrganizationAccess } from './organization-access.js';

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
  credential: 'token',
  assurance: null,
  provedAt: null,
  teams: ['team-1'],
  rolesByOrganization: computeRoles([inTeam('org-1', 'core')]),
  closedTo: new Map(),
  restriction: UNRESTRICTED,
  expiredAt: null,
  token: 'at-1',
  subjects: '{team-1}',
  epoch: 3,
  snapshot: null,
  request: { id: 'a-request', address: '192.0.2.1', userAgent: 'terraform' },
};

describe('the roles in an organization', () => {
  it('are the union of the roles of all teams', () => {
    const rolesByOrganization = computeRoles([
      inTeam('org-1', 'core', { manageWorkspaces: true }),
      inTeam('org-1', 'readers', { readProjects: true }),
      inTeam('org-2', 'guests'),
    ]);
    expect(rolesByOrganization).toEqual(
      new Map([
        ['org-1', new Set(['member', 'manageWorkspaces', 'readProjects'])],
        ['org-2', new Set(['member'])],
      ]),
    );
  });

  it('include owner only through the owners team of the organization', () => {
    const rolesByOrganization = computeRoles([
      inTeam('org-1', 'owners'),
      inTeam('org-2', 'Owners'),
      inTeam('org-2', 'core'),
    ]);
    expect(rolesByOrganization.get('org-1')).toEqual(new Set(['member', 'owner']));
    expect(rolesByOrganization.get('org-2')).toEqual(new Set(['member']));
  });

  it('include owner by the id of the owners team, not by its name', () => {
    const owners = [{ ...inTeam('org-1', 'bosses'), owners: true }];
    const sameName = [{ ...inTeam('org-1', 'owners'), owners: false }];
    expect(computeRoles(owners).get('org-1')).toContain('owner');
    expect(computeRoles(sameName).get('org-1')).toEqual(new Set(['member']));
  });

  it('include member by membership, in addition to the roles of teams', () => {
    const rolesByOrganization = computeRoles([inTeam('org-2', 'core', { manageTeams: true })], ['org-1', 'org-2']);
    expect(rolesByOrganization).toEqual(
      new Map([
        ['org-1', new Set(['member'])],
        ['org-2', new Set(['member', 'manageTeams'])],
      ]),
    );
  });

  it('give the number of organizations that the caller owns', () => {
    const teams = [inTeam('org-1', 'owners'), inTeam('org-2', 'core'), inTeam('org-3', 'owners')];
    expect(countOwned({ ...actor, rolesByOrganization: computeRoles(teams) })).toBe(2);
  });

  it('are empty without a team in the organization', () => {
    expect(getRolesIn(actor, 'org-1')).toEqual(new Set(['member']));
    expect(getRolesIn(actor, 'org-2')).toEqual(new Set());
  });

  it('include owner for a site admin in every organization', () => {
    expect(getRolesIn({ ...actor, siteAdmin: true }, 'org-2')).toContain('owner');
  });
});

describe('the roles at the site', () => {
  const siteRoles = (more: Partial<Identity>): string[] => [...getRolesIn({ ...actor, ...more }, null)].toSorted();

  it('are user-token for a user', () => {
    expect(siteRoles({ kind: 'user' })).toEqual(['user-token']);
  });

  it.each(['team', 'organization', 'audit-trails', 'agent'] as const)('are empty for a token of kind %s', (kind) => {
    expect(siteRoles({ kind })).toEqual([]);
  });

  it('include site-admin and owner for a site admin', () => {
    expect(siteRoles({ kind: 'user', siteAdmin: true })).toEqual(['member', 'owner', 'site-admin', 'user-token']);
  });
});

describe('the context of an event', () => {
  it('contains the caller and the request', () => {
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
  ] as const)('names the caller of a %s token with the type %s', (kind, type) => {
    expect(createEventContext({ ...actor, kind }).accessor.type).toBe(type);
  });

  it('names the system without a request', () => {
    expect(createSystemContext('command line', 'c-1')).toMatchObject({
      accessor: { id: 'system', name: 'command line' },
      auth: 'System',
      correlation: 'c-1',
      request: { id: null },
    });
  });
});
