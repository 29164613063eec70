import { Logger } from '@nestjs/common';
import { Refusal, sql, type Clock, type Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import type { EventStore } from '#storage/event-store';
import { endSessions, listSessionsOfOtherProviders, mapGroupsToTeams } from '#identity/people';
import type { ScheduledJob } from '#platform/postgres';
import { listGroupKeys } from '#identity/scim';
import { listEnabledProviders } from '../providers/identity-providers.view.js';
import { SETTINGS_PROVIDER_ID } from '../providers/provider-directory.service.js';
import { listManagedOwnersGroups } from './mapped-groups.js';
import { deleteStatements, listStatements, listUsersToReconcile, markStatementsMapped } from './stated-groups.view.js';

const EVERY_MS = 10_000;
const MAX_PER_STEP = 100;

type ProviderAccessDependencies = { readonly store: EventStore; readonly clock: Clock; readonly ids: Ids };

/** Access of a person that must end: a session, or the teams of groups. `id`: of the session or the person. */
type EndedAccess = { readonly id: string; readonly user: string };

type AccessKind = {
  /** Returns at most `MAX_PER_STEP`, by id, with ids after `after`. */
  readonly list: (dependencies: ProviderAccessDependencies, after: string) => Promise<readonly EndedAccess[]>;
  readonly end: (dependencies: ProviderAccessDependencies, access: EndedAccess) => Promise<unknown>;
};

const logger = new Logger('IdentityProviders');

/**
 * Ends what identity providers have given that are disabled or deleted: the sessions that began with them, and the teams of
 * the groups that they stated. It also ends teams of groups that are too old, and of identities that people have unlinked, and
 * completes sign-ins that were interrupted before they changed the teams.
 * A failure does not prevent the others; the first error becomes the cause of the thrown one.
 */
export const createProviderAccessJob = (dependencies: ProviderAccessDependencies): ScheduledJob => ({
  name: 'identity_provider_access',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    const failures: unknown[] = [];
    for (const kind of [sessions, statedGroups]) {
      for await (const access of listAll(dependencies, kind)) {
        if (signal.aborted) return;
        try {
          await kind.end(dependencies, access);
          done();
        } catch (error) {
          logger.warn('The access of a person from an identity provider did not end', { user: access.user });
          failures.push(error);
        }
      }
    }
    if (failures.length > 0) {
      throw new Error(`Access from identity providers did not end: ${failures.length}`, { cause: failures[0] });
    }
  },
});

async function* listAll(dependencies: ProviderAccessDependencies, { list }: AccessKind): AsyncGenerator<EndedAccess> {
  let some = await list(dependencies, '');
  while (some.length > 0) {
    yield* some;
    some = await list(dependencies, some.at(-1)?.id ?? '');
  }
}

const sessions: AccessKind = {
  list: async ({ store }, after) => {
    const enabled = (await listEnabledProviders(store.database)).map(({ id }) => id);
    return listSessionsOfOtherProviders(store.database, [SETTINGS_PROVIDER_ID, ...enabled], {
      after,
      most: MAX_PER_STEP,
    });
  },
  end: ({ store, ids }, { id, user }) => {
    const context = createSystemContext('identity provider', ids.uuid());
    return endSessions(store, { user, where: sql`session.id = ${id}`, reason: 'provider-disabled' }, context);
  },
};

const statedGroups: AccessKind = {
  list: async ({ store, clock }, after) => {
    const users = await listUsersToReconcile(store.database, clock.now(), { after, most: MAX_PER_STEP });
    return users.map((user) => ({ id: user, user }));
  },
  end: (dependencies, { user }) => reconcileTeams(dependencies, user),
};

/**
 * Makes the teams of a person match the statements that count, and then deletes those that are over: an interruption leaves
 * the statements for the next run. If a sign-in has not changed the teams, the job changes all of them as the sign-in would.
 * Otherwise it only removes the person from the teams of statements that are over.
 */
const reconcileTeams = async ({ store, clock, ids }: ProviderAccessDependencies, user: string): Promise<void> => {
  const { database } = store;
  const statements = await listStatements(database, user, clock.now());
  const ended = statements.filter(({ isOver }) => isOver);
  const counted = statements.filter(({ isOver, mapsGroups }) => !isOver && mapsGroups);
  const unmapped = statements.filter(
    ({ managedOwnersGroups, isOver, mapsGroups }) => managedOwnersGroups !== null && (isOver || mapsGroups),
  );
  const provisioned = await listGroupKeys(database, user);
  const userGroups = {
    user,
    groups: [...counted.flatMap(({ groups }) => groups), ...provisioned],
    managed: unmapped.length > 0 ? null : ended.flatMap(({ groups }) => groups),
    ofOwners: {
      groups: [...counted.flatMap(({ ownersGroups }) => ownersGroups), ...provisioned],
      managed: listManagedOwnersGroups([...ended, ...unmapped]),
    },
  };
  const context = createSystemContext('identity provider', ids.uuid());
  await mapGroupsToTeams({ store, ids }, userGroups, context).catch((error: unknown) => {
    // A person who was forgotten at the same time has no teams.
    if (!(error instanceof Refusal) || error.kind !== 'not-found') throw error;
  });
  await markStatementsMapped(database, user, unmapped);
  await deleteStatements(database, user, ended);
};
