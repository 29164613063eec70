import { sql, type Logger } from '#platform/kernel';
import type { Database, ScheduledJob } from '#platform/postgres';

const EVERY_MS = 10_000;

/**
 * Completes an upgrade from 0.2.0 when its last process has stopped: from then on 0.2.0 refuses to start, and events share
 * contexts (sql/010_log_format.sql).
 */
export const createLogFormatJob = (database: Database, logger: Logger): ScheduledJob => {
  let hasWaited = false;
  let isFinished = false;
  return {
    name: 'log_format',
    everyMs: EVERY_MS,
    run: async ({ done }) => {
      if (isFinished) return;
      const row = await database.row<{ isFinished: boolean }>(sql`select event_store.finish_upgrade() as "isFinished"`);
      isFinished = row?.isFinished ?? false;
      if (!isFinished) {
        if (!hasWaited) logger.info({}, 'the upgrade waits until all processes of 0.2.0 have stopped');
        hasWaited = true;
      } else if (hasWaited) {
        logger.info({}, 'the upgrade is complete: 0.2.0 cannot start any more');
        done();
      }
    },
  };
};
