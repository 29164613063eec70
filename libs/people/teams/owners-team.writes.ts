import type { Ids } from '#kernel';
import { newStream, decideWrite, type StreamWrite } from '#event-store';
import { membership } from '../memberships/membership.js';
import { OWNERS_TEAM_NAME, team } from './team.js';

type Founder = { readonly user: string; readonly username: string };

/**
 * The team that owns an organization from its birth, and who founds it as its first member; `writes` go into the append
 * that makes the organization.
 */
export const prepareOwnersTeam = (
  ids: Ids,
  organization: string,
  founder: Founder,
): { readonly team: string; readonly writes: readonly StreamWrite[] } => {
  const id = ids.next('team');
  const owners = { name: OWNERS_TEAM_NAME, visibility: 'organization' } as const;
  const membershipId = ids.next('ou');
  const place = { id: membershipId, ...founder, email: null, status: 'active' } as const;
  return {
    team: id,
    writes: [
      decideWrite(
        team,
        newStream(id, team),
        organization,
        { type: 'CreateTeam', data: owners },
        { type: 'AddTeamMembers', data: { members: [{ ...founder, invitation: null }] } },
      ),
      decideWrite(membership, newStream(membershipId, membership), organization, {
        type: 'CreateMembership',
        data: place,
      }),
    ],
  };
};
