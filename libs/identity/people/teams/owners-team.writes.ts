import type { Ids } from '#platform/kernel';
import { newStream, decideWrite, type StreamWrite } from '#storage/event-store';
import { membership } from '../memberships/membership.js';
import { OWNERS_TEAM_NAME, team } from './team.js';

type Founder = { readonly user: string; readonly username: string };

/**
 * Returns the writes that create the owners team of an organization, with the founder as its first member. They belong
 * in the append that creates the organization.
 */
export const prepareOwnersTeam = (
  ids: Ids,
  organization: string,
  founder: Founder,
): { readonly team: string; readonly writes: readonly StreamWrite[] } => {
  const id = ids.next('team');
  const owners = { name: OWNERS_TEAM_NAME, visibility: 'organization' } as const;
  const membershipId = ids.next('ou');
  const data = { id: membershipId, ...founder, email: null, status: 'active' } as const;
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
        data,
      }),
    ],
  };
};
