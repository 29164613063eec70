import { Backoff, sql, type Logger } from '#platform/kernel';
import type { Database, DatabaseSession } from './database.js';
import { computeLockKey } from './advisory-lock.js';
import { keepLeading } from './leader-loop.js';
import { jobMetrics } from './postgres.metrics.js';
import { pause } from './pause.js';

/** Work that depends on time and not on an event. */
export type ScheduledJob = {
  readonly name: string;
  readonly everyMs: number;
  /**
   * Does all work that is due. If it throws, the work that is still due is tried again. It must do no harm if it runs
   * twice or in parallel.
   */
  readonly run: (round: JobRun) => Promise<void>;
  /** Resets gauges that only the process which runs the job may report. Also called in processes that never ran it. */
  readonly stopLeading?: () => void;
};

export type JobRun = {
  /** If it aborts, the job leaves the rest for the next run. */
  readonly signal: AbortSignal;
  /** Counts processed items. */
  readonly done: (items?: number) => void;
};

/** Records the end of a run. */
export type JobRecorder = (job: string, succeeded: boolean) => Promise<void>;

const STANDBY_MAX_MS = 30_000;
const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5 * 60 * 1_000;

/**
 * Runs a scheduled job at the start and then at intervals: standby → leading → standby …
 *
 * - **standby**: another process holds the job's advisory lock. It is tried again every half minute at the latest.
 * - **leading**: runs the job, waits, and checks that it still leads before it runs the job again.
 * - Every error is counted and logged, and after a growing pause everything starts again.
 */
export class ScheduledJobRunner {
  private readonly stopping = new AbortController();
  private readonly backoff: Backoff;
  private loop: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly job: ScheduledJob,
    logger: Logger,
    private readonly record: JobRecorder,
  ) {
    const fields = { scheduledJob: job.name };
    const pauses = { firstMs: RETRY_FIRST_MS, maxMs: RETRY_MAX_MS };
    this.backoff = new Backoff({ logger, subject: 'scheduled job', fields, ...pauses });
  }

  start(): void {
    this.loop = keepLeading({
      openSession: () => this.database.session(),
      backoff: this.backoff,
      signal: this.stopping.signal,
      lead: (session) => this.lead(session).finally(() => this.job.stopLeading?.()),
      standbyMs: Math.min(this.job.everyMs, STANDBY_MAX_MS),
      countFailure: () => jobMetrics.failures.inc({ scheduled_job: this.job.name }),
    });
  }

  /** Resolves when the last run has ended and the lock is free. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  /** Resolves to false if another process leads, and to true after an abort. */
  private async lead(session: DatabaseSession): Promise<boolean> {
    const { name, everyMs } = this.job;
    const { signal } = this.stopping;
    const lock = computeLockKey(`cadastre chore ${name}`);
    const done = (items = 1): void => jobMetrics.items.inc({ scheduled_job: name }, items);
    while (!signal.aborted) {
      // Fails if the connection and its lock are lost. A session that has the lock gets it again.
      const [attempt] = await session.run<{ ok: boolean }>(sql`select pg_try_advisory_lock(${lock}) as ok`);
      if (!attempt?.ok) return false;
      await this.run({ signal, done });
      this.backoff.succeeded();
      jobMetrics.lastSuccess.setToCurrentTime({ scheduled_job: name });
      await pause(everyMs, signal);
    }
    return true;
  }

  private async run(round: JobRun): Promise<void> {
    try {
      await this.job.run(round);
    } catch (error) {
      await this.recordFailure(error);
      throw error;
    }
    await this.record(this.job.name, true);
  }

  private async recordFailure(error: unknown): Promise<void> {
    try {
      await this.record(this.job.name, false);
    } catch (recordError) {
      throw new AggregateError([error, recordError], 'a scheduled job failed, and its failure was not recorded');
    }
  }
}
