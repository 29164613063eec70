import { notFound, type EventContext } from '#platform/kernel';
import type { EventStore } from '#storage/event-store';
import { prepareUserChange } from './changed-user.writes.js';
import type { UserToSuspend } from './users.queries.js';

export type SuspensionRequest = {
  readonly id: string;
  readonly suspended: boolean;
  readonly context: EventContext;
  /** Called again for every retry. */
  readonly load: () => Promise<UserToSuspend | undefined>;
};

/**
 * Suspends a user and ends their tokens and sessions in one append, or ends the suspension. Does nothing if the user is
 * in this state already. Throws `not-found` for an unknown user.
 */
export const changeSuspension = (
  store: EventStore,
  { id, suspended, context, load }: SuspensionRequest,
): Promise<void> =>
  store.retryOnConflict(async () => {
    const row = await load();
    if (!row) throw notFound();
    const { writes, statements, conditions } = await prepareUserChange(store, { id, row, suspended });
    if (writes.length > 0) await store.append(writes, context, statements, conditions);
  });
