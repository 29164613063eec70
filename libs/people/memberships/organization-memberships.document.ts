import { toMany, toOne, type Resource } from '#json-api';
import type { MembershipRow } from './organization-memberships.queries.js';

export const renderMembership = (row: MembershipRow): Resource => ({
  id: row.id,
  type: 'organization-memberships',
  // pytfe requires a string, but an account that the command line created has no address.
  attributes: { status: row.status, email: row.email ?? '', 'created-at': row.createdAt },
  relationships: {
    organization: toOne('organizations', row.organizationName, `/api/v2/organizations/${row.organizationName}`),
    user: toOne('users', row.user, `/api/v2/users/${row.user}`),
    teams: toMany('teams', row.teams),
  },
  links: { self: `/api/v2/organization-memberships/${row.id}` },
});
