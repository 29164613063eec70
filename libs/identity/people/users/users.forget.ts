import { notFound, unavailable, type EventContext } from '#platform/kernel';
import { raiseConflictWhen, decideWrite, type EventStore, type StreamWrite } from '#storage/event-store';
import type { NameEraser } from '#storage/personal-data';
import { isOutage } from '#platform/postgres';
import { prepareTokenDestruction } from '../authentication-tokens/authentication-tokens.writes.js';
import { membership } from '../memberships/membership.js';
import { prepareSessionEnds, refuseRemainingSessions } from '../sessions/sessions.writes.js';
import { team } from '../teams/team.js';
import { isOwnerless } from '../teams/teams.queries.js';
import { user } from './user.js';
import { hasAnyMembership, HAS_NO_ADMIN, type UserToForget } from './users.queries.js';

type ForgetRequest = {
  readonly id: string;
  readonly context: EventContext;
  /** Called again for every retry. */
  readonly load: () => Promise<UserToForget | undefined>;
};

/** Dependencies of `forgetUser`. `onExamined` receives the number of examined rows of each table. */
export type ForgetDependencies = {
  readonly store: EventStore;
  readonly forgetting: NameEraser;
  readonly onExamined?: (rows: number, table: string) => void;
};

/**
 * Ends a person's memberships, teams, tokens and sessions and forgets the person, in one append. Then erases the person's name
 * from stored data. Their actions stay recorded under their id. Throws `not-found` for an unknown user.
 */
export const forgetUser = async (
  { store, forgetting, onExamined }: ForgetDependencies,
  request: ForgetRequest,
): Promise<void> => {
  await endAccount(store, request);
  await forgetting.finish(onExamined ? { onExamined } : {}).catch((error: unknown) => {
    if (!isOutage(error)) throw error;
    throw unavailable(
      'The user is forgotten; their name is removed from stored data as soon as the database is available again',
      1,
    );
  });
};

/** Ends the account as `forgetUser` does. A scheduled job erases the name later. */
export const endAccount = (store: EventStore, { id, context, load }: ForgetRequest): Promise<void> =>
  store.retryOnConflict(async () => {
    const row = await load();
    if (!row) throw notFound();
    const { teams, snapshot, siteAdmin, isLastAdmin } = row;
    const command = {
      type: 'ForgetUser',
      data: { owned: listSoleOwnedOrganizations(id, row), isLastAdmin },
    } as const;
    const forgetting = decideWrite(user, await store.restore(id, user, snapshot), null, command);
    const tokens = await prepareTokenDestruction(store, id, row.tokens, row.activeOrganizations);
    const leaving = await prepareLeaving(store, id, row);
    const person = { ...row, organizations: row.activeOrganizations };
    const sessionEnds = await prepareSessionEnds(store, person, 'forgotten');
    const memberWrites = [...leaving, ...tokens.writes, ...sessionEnds].toSorted((a, b) =>
      a.stream < b.stream ? -1 : 1,
    );
    await store.append([...memberWrites, forgetting], context, [
      ...tokens.statements,
      refuseRemainingSessions(id),
      raiseConflictWhen(hasAnyMembership(id)),
      ...(siteAdmin ? [raiseConflictWhen(HAS_NO_ADMIN)] : []),
      ...teams.filter(({ owners }) => owners).map(({ id: owned }) => raiseConflictWhen(isOwnerless(owned))),
    ]);
  });

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
