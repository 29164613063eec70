import { Refusal, sql, type Clock, type Ids } from '#kernel';
import { createSystemContext } from '#access';
import type { EventStore } from '#event-store';
import { endSessions, listSessionsOfOtherProviders, mapGroupsToTeams } from '#people';
import type { ScheduledJob } from '#postgres';
import { listGroupKeys } from '#scim';
import { listEnabledProviders } from '../providers/identity-providers.queries.js';
import { SETTINGS_PROVIDER_ID } from '../providers/provider-directory.service.js';
import { deleteStatements, listStatements, listUsersWithEndedStatements } from './stated-groups.queries.js';

const EVERY_MS = 10_000;
const MAX_PER_STEP = 100;

type ProviderAccessDependencies = { readonly store: EventStore; readonly clock: Clock; readonly ids: Ids };

/**
 * Ends what identity providers have given that are disabled or deleted: the sessions that began with them, and the teams of
 * the groups that they stated. It also ends teams of groups that are too old, and of identities that people have unlinked.
 */
export const createProviderAccessJob = (dependencies: ProviderAccessDependencies): ScheduledJob => ({
  name: 'identity_provider_access',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    for (const endSome of [endSomeSessions, endSomeStatements]) {
      while (!signal.aborted) {
        const ended = await endSome(dependencies);
        if (ended === 0) break;
        done(ended);
      }
    }
  },
});

/** Returns how many sessions it ended; 0 if there are no more. */
const endSomeSessions = async ({ store, ids }: ProviderAccessDependencies): Promise<number> => {
  const enabled = (await listEnabledProviders(store.database)).map(({ id }) => id);
  const providers = [SETTINGS_PROVIDER_ID, ...enabled];
  const sessions = await listSessionsOfOtherProviders(store.database, providers, MAX_PER_STEP);
  for (const { id, user } of sessions) {
    const context = createSystemContext('identity provider', ids.uuid());
    await endSessions(store, { user, where: sql`session.id = ${id}`, reason: 'provider-disabled' }, context);
  }
  return sessions.length;
};

/** Returns the number of people whose statements it ended; 0 if there are no more. */
const endSomeStatements = async (dependencies: ProviderAccessDependencies): Promise<number> => {
  const { store, clock } = dependencies;
  const users = await listUsersWithEndedStatements(store.database, clock.now(), MAX_PER_STEP);
  for (const user of users) await endStatementsOf(dependencies, user);
  return users.length;
};

/**
 * Removes a person from the teams of groups that no other statement gives, and then deletes the statements: an interruption
 * leaves the statements for the next run. Other teams stay.
 */
const endStatementsOf = async ({ store, clock, ids }: ProviderAccessDependencies, user: string): Promise<void> => {
  const { database } = store;
  const statements = await listStatements(database, user, clock.now());
  const ended = statements.filter(({ isOver }) => isOver);
  const counted = statements.filter(({ isOver, mapsGroups }) => !isOver && mapsGroups);
  const provisioned = await listGroupKeys(database, user);
  const userGroups = {
    user,
    groups: [...counted.flatMap(({ groups }) => groups), ...provisioned],
    managed: ended.flatMap(({ groups }) => groups),
    ofOwners: {
      groups: [...counted.flatMap(({ ownersGroups }) => ownersGroups), ...provisioned],
      managed: ended.flatMap(({ ownersGroups }) => ownersGroups),
    },
  };
  const context = createSystemContext('identity provider', ids.uuid());
  await mapGroupsToTeams({ store, ids }, userGroups, context).catch((error: unknown) => {
    // A person who was forgotten at the same time has no teams.
    if (!(error instanceof Refusal) || error.kind !== 'not-found') throw error;
  });
  await deleteStatements(database, user, ended);
};
