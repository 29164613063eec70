import { can, type Identity } from '#api/access';
import { toMany, toOne, type Resource } from '#api/json-api';
import type { MembershipRow } from './organization-memberships.queries.js';

/** Renders a membership. Only callers that may manage memberships see when the person was last active. */
export const renderMembership = (row: MembershipRow, actor: Identity): Resource => ({
  id: row.id,
  type: 'organization-memberships',
  attributes: {
    status: row.status,
    // pytfe requires a string, but an account that the command line created has no address.
    email: row.email ?? '',
    'created-at': row.createdAt,
    ...(can(actor, 'manage-memberships', { organization: row.organization })
      ? { 'last-active-at': row.lastActiveAt }
      : {}),
  },
  relationships: {
    organization: toOne('organizations', row.organizationName, `/api/v2/organizations/${row.organizationName}`),
    user: toOne('users', row.user, `/api/v2/users/${row.user}`),
    teams: toMany('teams', row.teams),
  },
  links: { self: `/api/v2/organization-memberships/${row.id}` },
});
