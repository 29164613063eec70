import { notFound, type EventContext } from '#kernel';
import { decideWrite, getFirstRow, lockStream, raiseConflictWhen, type EventStore } from '#event-store';
import { prepareTokenDestruction } from '../authentication-tokens/authentication-tokens.writes.js';
import { prepareSessionEnds, refuseRemainingSessions } from '../sessions/sessions.writes.js';
import { isOwnerless } from '../teams/teams.queries.js';
import { user } from './user.js';
import { HAS_NO_ADMIN, selectUserById, type UserRow, type UserToSuspend } from './users.queries.js';

export type SuspensionRequest = {
  readonly id: string;
  readonly context: EventContext;
  /** Called again for every retry. */
  readonly load: () => Promise<UserToSuspend | undefined>;
};

/** No event has this stream. Suspensions of administrators lock it, because no version covers the last one. */
const ADMINISTRATORS = 'site administrators';

/**
 * Suspends a user and ends their tokens and sessions in one append: the next request with one of them is refused. Does
 * nothing if the user is suspended. Throws `not-found` for an unknown user.
 */
export const suspendUser = (store: EventStore, { id, context, load }: SuspensionRequest): Promise<UserRow> =>
  store.untilFirst(async () => {
    const row = await load();
    if (!row) throw notFound();
    const { ownersTeams, organizations, isLastAdmin, siteAdmin } = row;
    const owned = ownersTeams
      .filter(({ owners }) => owners?.every((owner) => owner === id))
      .map(({ organizationName }) => organizationName);
    const command = { type: 'SuspendUser', data: { organizations, owned, isLastAdmin } } as const;
    const suspension = decideWrite(user, await store.restore(id, user, row.snapshot), null, command);
    if (suspension.events.length === 0) return readUser(store, id);
    const tokens = await prepareTokenDestruction(store, id, row.tokens, organizations);
    const sessionEnds = await prepareSessionEnds(store, row, 'suspended');
    const { rows } = await store.append(
      [...tokens.writes, ...sessionEnds, suspension],
      context,
      [
        selectUserById(id),
        ...tokens.statements,
        refuseRemainingSessions(id),
        ...(siteAdmin ? [raiseConflictWhen(HAS_NO_ADMIN)] : []),
        ...ownersTeams.map((owned) => raiseConflictWhen(isOwnerless(owned.id))),
      ],
      // Other changes of owners write to the team. This append does not, so it locks the team for `isOwnerless`.
      [...ownersTeams.map((owned) => lockStream(owned.id)), ...(siteAdmin ? [lockStream(ADMINISTRATORS)] : [])],
    );
    return getFirstRow<UserRow>(rows);
  });

/** Ends the suspension. Tokens stay ended. Does nothing if the user is not suspended. */
export const unsuspendUser = (store: EventStore, { id, context, load }: SuspensionRequest): Promise<UserRow> =>
  store.untilFirst(async () => {
    const row = await load();
    if (!row) throw notFound();
    const command = { type: 'UnsuspendUser', data: { organizations: row.organizations } } as const;
    const write = decideWrite(user, await store.restore(id, user, row.snapshot), null, command);
    if (write.events.length === 0) return readUser(store, id);
    const { rows } = await store.append([write], context, [selectUserById(id)]);
    return getFirstRow<UserRow>(rows);
  });

const readUser = async (store: EventStore, id: string): Promise<UserRow> => {
  const row = await store.database.row<UserRow>(selectUserById(id));
  if (!row) throw notFound();
  return row;
};
