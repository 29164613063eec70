import type { Clock, Logger } from '#platform/kernel';

/** Compares the logs with what is known about them elsewhere, and prepares their forks if the database is older. */
export type HistoryGuard = {
  readonly source: string;
  /** Rejects if the source could not answer. */
  readonly check: () => Promise<void>;
};

/** A process that has signed nothing for this time cannot know whether the database was restored meanwhile. */
const GAP_MS = 60_000;
/** Rounds for which logs wait for a guard that fails. A witness that is away must not stop the checkpoints. */
const ATTEMPTS = 3;

/**
 * Asks all guards before the first round that signs, and again after a pause. Otherwise a database that was restored together
 * with its file store could sign a second history before anybody notices.
 */
export class HistoryGuards {
  private passedAt = Number.NEGATIVE_INFINITY;
  private attempts = 0;

  constructor(
    private readonly guards: readonly HistoryGuard[],
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Returns whether the logs may be signed in this round. */
  async pass(): Promise<boolean> {
    const now = this.clock.now().getTime();
    if (now - this.passedAt > GAP_MS && !(await this.checkAll())) return false;
    this.passedAt = now;
    this.attempts = 0;
    return true;
  }

  /** Returns false if a guard could not answer and is checked again in the next round. */
  private async checkAll(): Promise<boolean> {
    const results = await Promise.all(this.guards.map((guard) => this.check(guard)));
    this.attempts += 1;
    return !results.includes(false) || this.attempts >= ATTEMPTS;
  }

  private async check({ source, check }: HistoryGuard): Promise<boolean> {
    try {
      await check();
      return true;
    } catch (err) {
      this.logger.warn({ err, source }, 'it is unknown whether this database was restored: a guard of its logs failed');
      return false;
    }
  }
}
