import { notFound, unavailable, type EventContext } from '#kernel';
import { raiseConflictWhen, decideWrite, type EventStore, type StreamWrite } from '#event-store';
import type { NameEraser } from '#personal-data';
import { isOutage } from '#postgres';
import { prepareTokenDestruction } from '../authentication-tokens/authentication-tokens.writes.js';
import { membership } from '../memberships/membership.js';
import { team } from '../teams/team.js';
import { isOwnerless } from '../teams/teams.queries.js';
import { user } from './user.js';
import { hasAnyMembership, HAS_NO_ADMIN, type UserToForget } from './users.queries.js';

type ForgetRequest = {
  readonly id: string;
  readonly context: EventContext;
  /** Asked anew as often as somebody else is faster. */
  readonly load: () => Promise<UserToForget | undefined>;
};

/** What is forgotten with, and who is told of the rows that have been looked at. */
export type ForgetDependencies = {
  readonly store: EventStore;
  readonly forgetting: NameEraser;
  readonly onErased?: (rows: number, table: string) => void;
};

/**
 * Ends what a person has here, memberships, teams and tokens, and then forgets them, all in one append; and takes their name
 * out of what has been written before. What they did stays, done by their id. Throws `not-found` where there is nobody.
 */
export const forgetUser = async (
  { store, forgetting, onErased }: ForgetDependencies,
  wish: ForgetRequest,
): Promise<void> => {
  await endMemberships(store, wish);
  await forgetting.finish(onErased ? { onErased } : {}).catch((error: unknown) => {
    if (!isOutage(error)) throw error;
    throw unavailable('They are forgotten; their name is taken out of what is read as soon as the database is back', 1);
  });
};

const endMemberships = (store: EventStore, { id, context, load }: ForgetRequest): Promise<void> =>
  store.untilFirst(async () => {
    const found = await load();
    if (!found) throw notFound();
    const { teams, snapshot, siteAdmin, isLastAdmin } = found;
    const command = {
      type: 'ForgetUser',
      data: { owned: listSoleOwnedOrganizations(id, found), isLastAdmin },
    } as const;
    const forgetting = decideWrite(user, await store.restore(id, user, snapshot), null, command);
    const tokens = await prepareTokenDestruction(store, id, found.tokens);
    const leaving = await prepareLeaving(store, id, found);
    const ends = [...leaving, ...tokens.writes].toSorted((a, b) => (a.stream < b.stream ? -1 : 1));
    await store.append([...ends, forgetting], context, [
      ...tokens.statements,
      raiseConflictWhen(hasAnyMembership(id)),
      ...(siteAdmin ? [raiseConflictWhen(HAS_NO_ADMIN)] : []),
      ...teams.filter(({ owners }) => owners).map(({ id: owned }) => raiseConflictWhen(isOwnerless(owned))),
    ]);
  });

/** Names of the organizations that nobody else owns. */
const listSoleOwnedOrganizations = (id: string, { teams }: UserToForget): readonly string[] =>
  teams.filter(({ owners }) => owners?.every((owner) => owner === id)).map(({ organizationName }) => organizationName);

const prepareLeaving = (
  store: EventStore,
  id: string,
  { username, memberships, teams }: UserToForget,
): Promise<StreamWrite[]> =>
  Promise.all([
    ...memberships.map(async ({ id: stream, organization, email, snapshot }) =>
      decideWrite(membership, await store.restore(stream, membership, snapshot), organization, {
        type: 'RemoveMembership',
        data: { id: stream, username, email },
      }),
    ),
    ...teams.map(async ({ id: stream, organization, owners, invitation, snapshot }) =>
      decideWrite(team, await store.restore(stream, team, snapshot), organization, {
        type: 'RemoveTeamMembers',
        data: { members: [{ user: id, username, invitation }], owners },
      }),
    ),
  ]);
