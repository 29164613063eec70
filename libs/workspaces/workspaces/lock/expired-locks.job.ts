import { formatTimestamp, sql, type Clock, type Ids } from '#platform/kernel';
import { createSystemContext } from '#api/access';
import type { EventStore } from '#storage/event-store';
import type { ScheduledJob } from '#platform/postgres';
import { expireLock } from '../workspaces/change-workspace.operation.js';

const PAGE_SIZE = 100;
const EVERY_MS = 5_000;

/** Ends the locks whose lease is over. */
export const createExpiredLocksJob = (store: EventStore, clock: Clock, ids: Ids): ScheduledJob => ({
  name: 'expired_locks',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    const now = formatTimestamp(clock.now().getTime());
    while (!signal.aborted) {
      const expired = await store.database.rows<{ workspace: string }>(
        sql`select workspace from workspace_locks where expires_at <= ${now} order by expires_at limit ${PAGE_SIZE}`,
      );
      if (expired.length === 0) return;
      for (const { workspace } of expired) {
        await expireLock(store, workspace, now, createSystemContext('lock leases', ids.uuid()));
        done();
      }
    }
  },
});
