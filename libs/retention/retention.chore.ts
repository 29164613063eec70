import type { Clock, EventContext, Ids } from '#kernel';
import { staleWhen, unchanged, type Chore, type EventStore } from '#event-store';
import { systemContext } from '#access';
import { softDeletion } from '#state/to-state';
import { dueVersion, dueVersions, hasOtherPolicy } from './retention.queries.js';

/**
 * Soft-deletes the data of state versions that is older than the policy of their workspace wants, or of its organization.
 *
 * Found in pages by their age; whether it is really due is asked of each one once more, together with what it is appended
 * on. So it does no harm to run it twice, and a policy or a lock that changes meanwhile counts.
 */
export const retentionChore = (store: EventStore, clock: Clock, ids: Ids, everyMs: number): Chore => ({
  name: 'data_retention',
  everyMs,
  run: async ({ signal, done }) => {
    const now = clock.now();
    const context = systemContext('data retention', ids.uuid());
    const failures: unknown[] = [];
    for await (const version of dueVersions(store.database, now)) {
      if (signal.aborted) return;
      try {
        if (await letGo(store, version, now, context)) done();
      } catch (error) {
        // It comes again, and must not keep the others from their turn.
        failures.push(error);
      }
    }
    if (failures.length > 0) {
      throw new Error(`the data of ${failures.length} state versions could not be deleted`, { cause: failures[0] });
    }
  },
});

/** Resolves to false where it is not due any more. */
const letGo = (store: EventStore, id: string, now: Date, context: EventContext): Promise<boolean> =>
  store.untilFirst(async () => {
    const due = await dueVersion(store.database, id, now);
    if (!due) return false;
    const holding = [unchanged(due.workspace, due.workspaceVersion), unchanged(due.policy, due.policyVersion)];
    await store.append([...holding, await softDeletion(store, due)], context, [staleWhen(hasOtherPolicy(due))]);
    return true;
  });
