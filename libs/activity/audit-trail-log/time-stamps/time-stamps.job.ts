import { hash } from 'node:crypto';
import { TimeStampError } from '#packages/trail-verifier';
import { Backoff, type Clock, type Logger } from '#platform/kernel';
import type { Database, JobRun, ScheduledJob } from '#platform/postgres';
import type { TimeStampSettings } from '#platform/settings';
import { checkpointMetrics } from '../checkpoints/checkpoints.metrics.js';
import { createTimeStampClient, type ReceivedTimeStamp } from './time-stamp.client.js';
import { findCheckpointToStamp, storeTimeStamp } from './time-stamps.queries.js';

const EVERY_MS = 60_000;
const RETRY_MAX_MS = 60 * 60 * 1_000;

type TimeStampJobDependencies = { readonly database: Database; readonly clock: Clock; readonly logger: Logger };

/**
 * Creates the job that lets an authority stamp the checkpoint of the log of the site that is served, once in the configured
 * interval. Nothing waits for it, so an authority that does not answer delays nothing.
 */
export const createTimeStampJob = (
  dependencies: TimeStampJobDependencies,
  settings: TimeStampSettings,
): ScheduledJob => {
  const round = new TimeStampRound(dependencies, settings);
  return {
    name: 'trail_time_stamps',
    everyMs: EVERY_MS,
    run: (job) => round.run(job),
    stopLeading: () => checkpointMetrics.timeStampOverdue.set(0),
  };
};

class TimeStampRound {
  private readonly stamp: (stamped: Buffer) => Promise<ReceivedTimeStamp>;
  private readonly backoff: Backoff;
  private retryAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly dependencies: TimeStampJobDependencies,
    private readonly settings: TimeStampSettings,
  ) {
    const { clock, logger } = dependencies;
    this.stamp = createTimeStampClient(settings, clock);
    this.backoff = new Backoff({
      logger,
      subject: 'time stamp of the log of the site',
      fields: { authority: new URL(settings.url).host },
      firstMs: EVERY_MS,
      maxMs: RETRY_MAX_MS,
      now: () => clock.now().getTime(),
    });
  }

  async run({ done }: JobRun): Promise<void> {
    const { database, clock } = this.dependencies;
    const now = clock.now();
    const checkpoint = await findCheckpointToStamp(database, now, this.settings.intervalMs);
    checkpointMetrics.timeStampOverdue.set(checkpoint?.overdueSeconds ?? 0);
    if (!checkpoint || now.getTime() < this.retryAt) return;
    try {
      const note = Buffer.from(checkpoint.note);
      const stamped = await this.stamp(note);
      await database.rows(storeTimeStamp(hash('sha256', note), checkpoint, stamped, clock.now()));
      this.backoff.succeeded();
      checkpointMetrics.timeStampOverdue.set(0);
      done();
    } catch (error) {
      // An authority also charges for a stamp that could not be stored.
      this.retryAt = now.getTime() + this.backoff.failed(error);
      if (!(error instanceof TimeStampError)) throw error;
      checkpointMetrics.timeStampFailures.inc({ reason: error.failure });
    }
  }
}
