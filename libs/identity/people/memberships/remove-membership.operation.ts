import { decideWrite, raiseConflictWhen, type EventStore, type StreamWrite } from '#storage/event-store';
import { can, createEventContext, type Actor, type Permission } from '#api/access';
import { requireTeamRead } from '../team-access/team-permission.js';
import { team } from '../teams/team.js';
import { isOwnerless } from '../teams/teams.queries.js';
import { membership } from './membership.js';
import type { MembershipOperations } from './organization-memberships.commands.js';
import { isInTeams, loadMembershipForCommand, type MembershipForCommand } from './organization-memberships.queries.js';

/** Returns the permission that the removal requires. Members may leave. Only owners may remove an owner. */
const getRequiredPermission = (row: MembershipForCommand, actor: Actor): Permission => {
  if (can(actor, 'leave-organization', row)) return 'leave-organization';
  return row.teams.some(({ isOwners }) => isOwners) ? 'manage-owners' : 'manage-memberships';
};

const prepareTeamRemovals = (
  store: EventStore,
  { organization, user, username, invitation, teams }: MembershipForCommand,
): Promise<StreamWrite[]> => {
  const members = [{ user, username, invitation }];
  return Promise.all(
    teams.map(async ({ id: stream, owners, snapshot }) =>
      decideWrite(team, await store.restore(stream, team, snapshot), organization, {
        type: 'RemoveTeamMembers',
        data: { members, owners },
      }),
    ),
  );
};

/** Removes the membership, and the person from the organization's teams, in one append. */
export const removeMembership = (
  store: EventStore,
  { id, actor }: MembershipOperations['RemoveMembership']['input'],
): Promise<void> =>
  store.retryOnConflict(async () => {
    const row = await loadMembershipForCommand(
      store.database,
      actor,
      (loaded) => getRequiredPermission(loaded, actor),
      id,
    );
    const { organization, username, invitation, teams } = row;
    if (!can(actor, 'leave-organization', row)) for (const one of teams) requireTeamRead(actor, one);
    const loaded = await store.restore(id, membership, row.snapshot);
    const removal = { type: 'RemoveMembership', data: { id, username, email: invitation?.email ?? null } } as const;
    await store.append(
      // The membership comes first: after this write no concurrent request can add the person to a team, so
      // `isInTeams` is reliable.
      [decideWrite(membership, loaded, organization, removal), ...(await prepareTeamRemovals(store, row))],
      createEventContext(actor),
      [
        raiseConflictWhen(isInTeams(organization, row.user)),
        ...teams.filter(({ owners }) => owners).map((owned) => raiseConflictWhen(isOwnerless(owned.id))),
      ],
    );
  });
