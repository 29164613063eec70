import type { Clock, Logger } from '#platform/kernel';
import { checkpointMetrics } from './checkpoints.metrics.js';

/** Compares the logs with what is known about them elsewhere, and prepares their forks if the database is older. */
export type HistoryGuard = {
  readonly source: string;
  /** May run beside the rounds. Rejects if the source could not answer. */
  readonly check: (signal: AbortSignal) => Promise<void>;
  /** Records what the checks found. Runs while nothing signs, so that the signer cannot overwrite it unseen. */
  readonly recordFindings?: () => Promise<void>;
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
  private checking: Promise<void> | null = null;
  private isLeading = false;

  constructor(
    private readonly guards: readonly HistoryGuard[],
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Returns whether the logs may be signed in this round. */
  async pass(signal: AbortSignal): Promise<boolean> {
    this.isLeading = true;
    const now = this.clock.now().getTime();
    if (now - this.passedAt > GAP_MS) {
      await this.checking;
      await this.checkAll(this.guards, signal);
      this.attempts += 1;
      if (this.unanswered.length > 0 && this.attempts < ATTEMPTS) return false;
    } else if (this.unanswered.length > 0 && !this.checking && now - this.checkedAt > GAP_MS) {
      void this.checkAll(this.unanswered, signal);
    }
    for (const guard of this.guards) await guard.recordFindings?.();
    this.passedAt = now;
    this.attempts = 0;
    return true;
  }

  /** The process that signs from now on checks all guards itself. */
  stopLeading(): void {
    this.isLeading = false;
    this.passedAt = Number.NEGATIVE_INFINITY;
    this.attempts = 0;
    this.unanswered = [];
    for (const { source } of this.guards) checkpointMetrics.unknownHistory.set({ source }, 0);
  }

  private checkAll(guards: readonly HistoryGuard[], signal: AbortSignal): Promise<void> {
    this.checkedAt = this.clock.now().getTime();
    const check = async (): Promise<void> => {
      const answered = await Promise.all(guards.map((guard) => this.check(guard, signal)));
      this.unanswered = guards.filter((_, n) => !answered[n]);
      this.checking = null;
    };
    this.checking = check();
    return this.checking;
  }

  private async check({ source, check }: HistoryGuard, signal: AbortSignal): Promise<boolean> {
    try {
      await check(signal);
      checkpointMetrics.unknownHistory.set({ source }, 0);
      return true;
    } catch (err) {
      if (this.isLeading) checkpointMetrics.unknownHistory.set({ source }, 1);
      const message = 'it is unknown whether this database was restored: a guard of its logs failed';
      if (!signal.aborted) this.logger.warn({ err, source }, message);
      return false;
    }
  }
}
