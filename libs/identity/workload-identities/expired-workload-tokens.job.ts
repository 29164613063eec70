import type { Clock, Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import type { EventStore } from '#storage/event-store';
import { destroyExpiredWorkloadTokens } from '#identity/people';
import type { ScheduledJob } from '#platform/postgres';

const EVERY_MS = 60_000;
const TOKENS_PER_STEP = 100;

/**
 * Destroys expired tokens of workload identities, so that they do not fill lists and views. The server refuses them
 * already. The audit trail records the end of each.
 */
export const createExpiredWorkloadTokensJob = ({
  store,
  clock,
  ids,
}: {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly ids: Ids;
}): ScheduledJob => ({
  name: 'expired_workload_tokens',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    while (!signal.aborted) {
      const context = createSystemContext('workload-identities', ids.uuid());
      const destroyed = await destroyExpiredWorkloadTokens(store, { now: clock.now(), most: TOKENS_PER_STEP }, context);
      if (destroyed === 0) return;
      done(destroyed);
    }
  },
});
