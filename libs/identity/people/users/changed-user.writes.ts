import type { Sql } from '#platform/kernel';
import { decideWrite, lockStream, raiseConflictWhen, type EventStore, type StreamWrite } from '#storage/event-store';
import { prepareTokenDestruction } from '../authentication-tokens/authentication-tokens.writes.js';
import { prepareSessionEnds, refuseRemainingSessions } from '../sessions/sessions.writes.js';
import { isOwnerless } from '../teams/teams.queries.js';
import { user, type UserChanges, type UserCommand } from './user.js';
import { HAS_NO_ADMIN, type UserToSuspend } from './users.queries.js';

/** Fragments of an append that changes a user, together with other writes. */
export type UserWrites = {
  readonly writes: readonly StreamWrite[];
  readonly statements: readonly Sql[];
  readonly conditions: readonly Sql[];
  /** Whether the append suspends the user, who was not suspended before. */
  readonly suspends: boolean;
};

type UserChangeRequest = {
  readonly id: string;
  /** The user, loaded with `loadUserToSuspend`. */
  readonly row: UserToSuspend;
  readonly changes?: UserChanges;
  /** Absent: stays as it is. */
  readonly suspended?: boolean;
};

/**
 * No event has this stream. Changes that leave one administrator less lock it, because no version covers the last one.
 */
export const ADMINISTRATORS = 'site administrators';

/**
 * Returns the writes that change a user, none if nothing changes. A suspension ends the user's tokens and sessions in the
 * same append: the next request with one of them is refused. Throws `unprocessable` for the suspension of the last owner
 * of an organization or the last administrator.
 */
export const prepareUserChange = async (store: EventStore, request: UserChangeRequest): Promise<UserWrites> => {
  const { id, row } = request;
  const write = decideWrite(user, await store.restore(id, user, row.snapshot), null, ...listCommands(request));
  if (!write.events.some(({ type }) => type === 'UserSuspended')) {
    return { writes: write.events.length > 0 ? [write] : [], statements: [], conditions: [], suspends: false };
  }
  const { ownersTeams, siteAdmin } = row;
  const tokens = await prepareTokenDestruction(store, id, row.tokens);
  const sessionEnds = await prepareSessionEnds(store, row, 'suspended');
  return {
    writes: [...tokens.writes, ...sessionEnds, write],
    statements: [
      ...tokens.statements,
      refuseRemainingSessions(id),
      ...(siteAdmin ? [raiseConflictWhen(HAS_NO_ADMIN)] : []),
      ...ownersTeams.map((team) => raiseConflictWhen(isOwnerless(team.id))),
    ],
    // Other changes of owners write to the team. This append does not, so it locks the team for `isOwnerless`.
    conditions: [...ownersTeams.map((team) => lockStream(team.id)), ...(siteAdmin ? [lockStream(ADMINISTRATORS)] : [])],
    suspends: true,
  };
};

const listCommands = ({ id, row, changes, suspended }: UserChangeRequest): UserCommand[] => {
  const { ownersTeams, organizations, isLastAdmin } = row;
  const owned = ownersTeams
    .filter(({ owners }) => owners?.every((owner) => owner === id))
    .map(({ organizationName }) => organizationName);
  return [
    ...(changes ? [{ type: 'UpdateUser', data: { changes, confirmsEmail: true } } as const] : []),
    ...(suspended === true ? [{ type: 'SuspendUser', data: { organizations, owned, isLastAdmin } } as const] : []),
    ...(suspended === false ? [{ type: 'UnsuspendUser', data: { organizations } } as const] : []),
  ];
};
