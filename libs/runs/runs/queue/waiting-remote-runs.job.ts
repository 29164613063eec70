import { sql, type Clock, type Logger } from '#platform/kernel';
import type { ScheduledJob, Database } from '#platform/postgres';
import { RUN_JOINS, isNoAssessment, isOpen, REMOTE_WITHOUT_POOL } from '../runs/runs.queries.js';

const EVERY_MS = 60_000;
/** Often enough as a reminder, seldom enough not to flood the log. */
const REPEAT_AFTER_MS = 60 * 60_000;

type WaitingRunCounts = { readonly runs: number; readonly organizations: number; readonly example: string | null };

/** Counts runs in `remote` mode, of all organizations, that no agent pool executes. */
const readWaiting = async (database: Database): Promise<WaitingRunCounts | undefined> =>
  database.row<WaitingRunCounts>(sql`
    select count(*) as runs, count(distinct o.name) as organizations, min(o.name) as example
      from runs r ${RUN_JOINS} where ${isOpen('r')} and ${isNoAssessment('r')} and ${REMOTE_WITHOUT_POOL}`);

/**
 * Logs a warning if runs in `remote` mode wait because no agent pool executes them: once,
 * then every hour while some wait, and once when no run waits any more. After an upgrade no pool is enabled, and the
 * log is where an operator looks.
 */
export const createWaitingRemoteRunsJob = (database: Database, clock: Clock, logger: Logger): ScheduledJob => {
  let loggedAt: number | null = null;
  return {
    name: 'waiting_remote_runs',
    everyMs: EVERY_MS,
    run: async () => {
      const counts = await readWaiting(database);
      const nowMs = clock.now().getTime();
      if (!counts || counts.runs === 0) {
        if (loggedAt !== null) logger.info({}, 'no run waits for an agent pool that executes remote runs any more');
        loggedAt = null;
        return;
      }
      if (loggedAt !== null && nowMs - loggedAt < REPEAT_AFTER_MS) return;
      loggedAt = nowMs;
      const { runs, organizations, example } = counts;
      logger.warn(
        { runs, organizations, organization: example },
        'runs in remote mode wait: no agent pool of the site or of their organization executes them; an administrator of the site must create a pool, or an owner must set remote-runs-enabled on one',
      );
    },
  };
};
