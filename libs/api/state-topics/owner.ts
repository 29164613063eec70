import { UNRESTRICTED, type Actor, type Role } from '#api/access';

const OWNER: ReadonlySet<Role> = new Set<Role>(['owner', 'member']);

/** Returns a caller that owns these organizations, and that is no user. */
export const createOwner = (organizations: readonly string[]): Actor => ({
  kind: 'user',
  id: '',
  name: '',
  siteAdmin: false,
  credential: 'token',
  assurance: null,
  provedAt: null,
  teams: [],
  rolesByOrganization: new Map(organizations.map((organization) => [organization, OWNER])),
  closedTo: new Map(),
  restriction: UNRESTRICTED,
  expiredAt: null,
  token: null,
  subjects: '{}',
  epoch: 0,
  snapshot: null,
  request: { id: null, address: null, userAgent: null },
});
