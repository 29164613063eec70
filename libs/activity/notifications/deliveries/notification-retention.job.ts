import type { Clock } from '#platform/kernel';
import type { Database, ScheduledJob } from '#platform/postgres';
import { deleteEndedDeliveries } from './due-deliveries.queries.js';

const EVERY_MS = 60 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
/** Ended deliveries are kept for this time. */
const DELIVERY_RETENTION_DAYS = 30;
/** Each step is a transaction of its own, because followers wait for every open transaction. */
const ROWS_PER_STEP = 1_000;

/** Deletes deliveries that ended long ago, and those that lost their configuration before they were stored. */
export const createNotificationRetentionJob = (database: Database, clock: Clock): ScheduledJob => ({
  name: 'notification_retention',
  everyMs: EVERY_MS,
  run: async ({ signal, done }) => {
    const nowMs = clock.now().getTime();
    const bound = new Date(nowMs - DELIVERY_RETENTION_DAYS * DAY_MS);
    const orphanBound = new Date(nowMs - EVERY_MS);
    while (!signal.aborted) {
      const [deleted = []] = await database.transaction([
        deleteEndedDeliveries({ bound, orphanBound, most: ROWS_PER_STEP }),
      ]);
      done(deleted.length);
      if (deleted.length < ROWS_PER_STEP) return;
    }
  },
});
