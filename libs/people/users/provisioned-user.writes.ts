import type { Ids, Sql } from '#kernel';
import { decideWrite, lockStream, newStream, raiseConflictWhen, type EventStore, type StreamWrite } from '#event-store';
import { prepareTokenDestruction } from '../authentication-tokens/authentication-tokens.writes.js';
import { prepareSessionEnds, refuseRemainingSessions } from '../sessions/sessions.writes.js';
import { isOwnerless } from '../teams/teams.queries.js';
import {
  deriveOtherUsername,
  deriveUsername,
  isValidUsername,
  user,
  type UserChanges,
  type UserCommand,
} from './user.js';
import { HAS_NO_ADMIN, type UserToSuspend } from './users.queries.js';

/** Parts of an append that changes a user, together with other writes. */
export type UserWrites = {
  readonly writes: readonly StreamWrite[];
  readonly statements: readonly Sql[];
  readonly conditions: readonly Sql[];
};

/** No event has this stream. Suspensions of administrators lock it, because no version covers the last one. */
const ADMINISTRATORS = 'site administrators';

/** Returns the username for a name at an identity provider: the name itself if it is a valid username. */
export const chooseUsername = (name: string): string => (isValidUsername(name) ? name : deriveUsername(name));

type ProvisionedUser = {
  readonly username: string;
  readonly email: string | null;
  readonly isTaken: boolean;
  readonly suspended: boolean;
};

/** Returns a new user. If `isTaken` is true, another user has the username, and the new one gets a suffix. */
export const prepareProvisionedUser = (
  ids: Ids,
  { username, email, isTaken, suspended }: ProvisionedUser,
): { readonly id: string; readonly write: StreamWrite } => {
  const id = ids.next('user');
  const free = isTaken ? deriveOtherUsername(username, id.slice(-6)) : username;
  const commands: readonly UserCommand[] = [
    { type: 'CreateUser', data: { username: free, email, siteAdmin: false } },
    ...(suspended
      ? [{ type: 'SuspendUser', data: { organizations: [], owned: [], isLastAdmin: false } } as const]
      : []),
  ];
  return { id, write: decideWrite(user, newStream(id, user), null, ...commands) };
};

export type UserChangeRequest = {
  readonly id: string;
  readonly row: UserToSuspend;
  readonly changes?: UserChanges;
  /** Absent: stays as it is. */
  readonly suspended?: boolean;
};

/**
 * Returns the writes that change a user, who was loaded with `loadUserToSuspend`. A suspension ends the user's tokens
 * and sessions in the same append: the next request with one of them is refused. No write if nothing changes.
 */
export const prepareUserChange = async (
  store: EventStore,
  { id, row, changes = {}, suspended }: UserChangeRequest,
): Promise<UserWrites> => {
  const { ownersTeams, organizations, isLastAdmin, siteAdmin } = row;
  const owned = ownersTeams
    .filter(({ owners }) => owners?.every((owner) => owner === id))
    .map(({ organizationName }) => organizationName);
  const commands: readonly UserCommand[] = [
    { type: 'UpdateUser', data: { changes, confirmsEmail: true } },
    ...(suspended === true ? [{ type: 'SuspendUser', data: { organizations, owned, isLastAdmin } } as const] : []),
    ...(suspended === false ? [{ type: 'UnsuspendUser', data: { organizations } } as const] : []),
  ];
  const write = decideWrite(user, await store.restore(id, user, row.snapshot), null, ...commands);
  if (!write.events.some(({ type }) => type === 'UserSuspended')) {
    return { writes: write.events.length > 0 ? [write] : [], statements: [], conditions: [] };
  }
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
  };
};
