import { Backoff, sql, type Logger } from '#kernel';
import type { Database, DatabaseSession } from './database.js';
import { computeLockKey } from './advisory-lock.js';
import { keepLeading } from './leader-loop.js';
import { jobMetrics } from './postgres.metrics.js';
import { pause } from './pause.js';

/** What has to be done as time goes by, and no event says so. */
export type ScheduledJob = {
  readonly name: string;
  /** How long it rests between two rounds. */
  readonly everyMs: number;
  /**
   * Does what is due by now. When it throws, all that is still due is tried again; so it must do no harm when it runs
   * twice, or beside itself.
   */
  readonly run: (round: JobRun) => Promise<void>;
};

export type JobRun = {
  /** Where it says so, the rest is left for the next round. */
  readonly signal: AbortSignal;
  /** For each thing that has been done, or for several at once. */
  readonly done: (things?: number) => void;
};

const STANDBY_MAX_MS = 30_000;
const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5 * 60 * 1_000;

/**
 * Has a chore done at the start and then at intervals: standby → leading → standby …
 *
 * - **standby**: another process holds the chore's advisory lock; asked again every half minute at the latest.
 * - **leading**: runs the chore, waits, and makes sure that it still leads before it runs it again.
 * - Any error is counted and logged, and after a growing pause everything starts over.
 */
export class ScheduledJobRunner {
  private readonly stopping = new AbortController();
  private readonly backoff: Backoff;
  private loop: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly chore: ScheduledJob,
    logger: Logger,
  ) {
    const fields = { scheduledJob: chore.name };
    const pauses = { firstMs: RETRY_FIRST_MS, maxMs: RETRY_MAX_MS };
    this.backoff = new Backoff({ logger, subject: 'scheduled job', fields, ...pauses });
  }

  start(): void {
    this.loop = keepLeading({
      database: this.database,
      backoff: this.backoff,
      signal: this.stopping.signal,
      lead: (session) => this.lead(session),
      standbyMs: Math.min(this.chore.everyMs, STANDBY_MAX_MS),
      countFailure: () => jobMetrics.failures.inc({ scheduled_job: this.chore.name }),
    });
  }

  /** Resolves when nothing of it runs any more, and the lock is free for the next. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  /** Resolves to false if another process leads, and to true when it is to stop. */
  private async lead(session: DatabaseSession): Promise<boolean> {
    const { name, everyMs } = this.chore;
    const { signal } = this.stopping;
    const lock = computeLockKey(`cadastre chore ${name}`);
    const done = (things = 1): void => jobMetrics.items.inc({ scheduled_job: name }, things);
    while (!signal.aborted) {
      // Fails where the connection is gone, and the lock with it. Whose it is already gets it again.
      const [taken] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${lock}) as ok`);
      if (!taken?.ok) return false;
      await this.chore.run({ signal, done });
      this.backoff.succeeded();
      jobMetrics.lastSuccess.setToCurrentTime({ scheduled_job: name });
      await pause(everyMs, signal);
    }
    return true;
  }
}
