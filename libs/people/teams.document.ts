import { attributesOf, linkTo, toMany, toOne, type Resource } from '#json-api';
import { may, type Identity } from '#access';
import { mayChangeTeam } from './team-permission.js';
import type { TeamDetailsRow } from './teams.queries.js';

export const teamResource = (team: TeamDetailsRow, actor: Identity): Resource => {
  // The owners team is what it is, whoever asks.
  const changes = mayChangeTeam(actor, 'manage-teams', team) && !team.isOwners;
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
      'organization-access': attributesOf(team.organizationAccess),
      permissions: {
        'can-update-membership': mayChangeTeam(actor, 'manage-team-membership', team),
        'can-destroy': changes,
        'can-update-organization-access': changes && may(actor, 'manage-organization-access', team),
        'can-update-api-token': mayChangeTeam(actor, 'manage-team-tokens', team),
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
