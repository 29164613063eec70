import type { Clock, Logger } from '#platform/kernel';
import { checkpointMetrics } from './checkpoints.metrics.js';

/** Compares the logs with what is known about them elsewhere, and prepares their forks if the database is older. */
export type HistoryGuard = {
  readonly source: string;
  /** Rejects if the source could not answer. */
  readonly check: (signal: AbortSignal) => Promise<void>;
};

/** A process that has signed nothing for this time cannot know whether the database was restored meanwhile. */
const GAP_MS = 60_000;
/** Rounds for which logs wait for a guard that fails. A witness that is away must not stop the checkpoints. */
const ATTEMPTS = 3;

/**
 * Checks all guards before the first round that signs, and again after a pause. Otherwise a database that was restored together
 * with its file store could sign a second history before anybody notices. Guards that could not answer are checked again once a
 * minute, beside the rounds, so that a second history is noticed later at least.
 */
export class HistoryGuards {
  private passedAt = Number.NEGATIVE_INFINITY;
  private attempts = 0;
  private unanswered: readonly HistoryGuard[] = [];
  private checkedAt = Number.NEGATIVE_INFINITY;
  private isChecking = false;

  constructor(
    private readonly guards: readonly HistoryGuard[],
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Returns whether the logs may be signed in this round. */
  async pass(signal: AbortSignal): Promise<boolean> {
    const now = this.clock.now().getTime();
    if (now - this.passedAt > GAP_MS) {
      await this.checkAll(this.guards, signal);
      this.attempts += 1;
      if (this.unanswered.length > 0 && this.attempts < ATTEMPTS) return false;
    } else if (this.unanswered.length > 0 && !this.isChecking && now - this.checkedAt > GAP_MS) {
      void this.checkAll(this.unanswered, signal);
    }
    this.passedAt = now;
    this.attempts = 0;
    return true;
  }

  private async checkAll(guards: readonly HistoryGuard[], signal: AbortSignal): Promise<void> {
    this.isChecking = true;
    this.checkedAt = this.clock.now().getTime();
    const answered = await Promise.all(guards.map((guard) => this.check(guard, signal)));
    this.unanswered = guards.filter((_, n) => !answered[n]);
    this.isChecking = false;
  }

  private async check({ source, check }: HistoryGuard, signal: AbortSignal): Promise<boolean> {
    try {
      await check(signal);
      checkpointMetrics.unknownHistory.set({ source }, 0);
      return true;
    } catch (err) {
      checkpointMetrics.unknownHistory.set({ source }, 1);
      const message = 'it is unknown whether this database was restored: a guard of its logs failed';
      if (!signal.aborted) this.logger.warn({ err, source }, message);
      return false;
    }
  }
}
