import { toAttributes, linkTo, toMany, toOne, type Resource } from '#api/json-api';
import { can, type Identity } from '#api/access';
import { canChangeTeam } from '../team-access/team-permission.js';
import type { TeamDetailsRow } from './teams.queries.js';

export const renderTeam = (team: TeamDetailsRow, actor: Identity): Resource => {
  // Nobody can change the owners team.
  const changes = canChangeTeam(actor, 'manage-teams', team) && !team.isOwners;
  return {
    id: team.id,
    type: 'teams',
    attributes: {
      name: team.name,
      'is-unified': false,
      'sso-team-id': team.ssoTeamId,
      'users-count': team.members.length,
      visibility: team.visibility,
      'allow-member-token-management': team.allowMemberTokenManagement,
      'organization-access': toAttributes(team.organizationAccess),
      permissions: {
        'can-update-membership': canChangeTeam(actor, 'manage-team-membership', team),
        'can-destroy': changes,
        'can-update-organization-access': changes && can(actor, 'manage-organization-access', team),
        'can-update-api-token': canChangeTeam(actor, 'manage-team-tokens', team),
        'can-update-visibility': changes,
      },
    },
    relationships: {
      organization: toOne('organizations', team.organizationName, `/api/v2/organizations/${team.organizationName}`),
      users: toMany('users', team.shownMembers),
      'organization-memberships': toMany('organization-memberships', team.memberships),
      'authentication-token': linkTo(`/api/v2/teams/${team.id}/authentication-token`),
    },
    links: { self: `/api/v2/teams/${team.id}` },
  };
};
