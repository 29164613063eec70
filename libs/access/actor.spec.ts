import { describe, expect, it } from '@jest/globals';
import { contextOf, standingIn, standingsOf, systemContext, type Actor, type TeamRow } from './actor.js';
import { NO_ORGANIZATION_ACCESS, type OrganizationAccess } from './team.js';

const inTeam = (organization: string, name: string, access: Partial<OrganizationAccess> = {}): TeamRow => ({
  id: `team-${name}`,
  organization,
  name,
  access: { ...NO_ORGANIZATION_ACCESS, ...access },
});

const actor: Actor = {
  kind: 'team',
  id: 'team-1',
  name: 'core',
  siteAdmin: false,
  teams: ['team-1'],
  standings: standingsOf([inTeam('org-1', 'core')]),
  expiredAt: null,
  epoch: 3,
  request: { id: 'a-request', address: '192.0.2.1', userAgent: 'terraform' },
};

describe('what somebody is in an organization', () => {
  it('is the sum of what their teams give', () => {
    const standings = standingsOf([
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
    const standings = standingsOf([inTeam('org-1', 'owners'), inTeam('org-2', 'Owners'), inTeam('org-2', 'core')]);
    expect(standings.get('org-1')).toEqual(new Set(['member', 'owner']));
    expect(standings.get('org-2')).toEqual(new Set(['member']));
  });

  it('is nothing where they have no team', () => {
    expect(standingIn(actor, 'org-1')).toEqual(new Set(['member']));
    expect(standingIn(actor, 'org-2')).toEqual(new Set());
  });

  it('is owner wherever a site admin goes', () => {
    expect(standingIn({ ...actor, siteAdmin: true }, 'org-2')).toContain('owner');
  });
});

describe('what an event keeps of who did it', () => {
  it('is the caller, and how the request came', () => {
    expect(contextOf(actor)).toEqual({
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
  ] as const)('names a %s token’s caller by the type %s', (kind, type) => {
    expect(contextOf({ ...actor, kind }).accessor.type).toBe(type);
  });

  it('is the system where nobody asked', () => {
    expect(systemContext('command line', 'c-1')).toMatchObject({
      accessor: { id: 'system', name: 'command line' },
      auth: 'System',
      correlation: 'c-1',
      request: { id: null },
    });
  });
});
