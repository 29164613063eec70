import { Backoff, type Clock, type Logger } from '#platform/kernel';
import { GitHostError } from '#vcs/git-hosts';

const LONGEST_PAUSE_MS = 60 * 60_000;

/** Work that is paused after a failure, as log lines describe it. */
export type PausableWork = { readonly subject: string; readonly key: string };

/** Pauses of work that has failed, in this process. */
export class Pauses {
  private readonly pauses = new Map<string, { readonly backoff: Backoff; readonly until: number }>();

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly firstMs: number,
  ) {}

  covers(key: string): boolean {
    return (this.pauses.get(key)?.until ?? 0) > this.clock.now().getTime();
  }

  /** Returns the keys of all paused work. */
  listPaused(): readonly string[] {
    return [...this.pauses.keys()].filter((key) => this.covers(key));
  }

  /** Does work that is not paused. After a failure it is paused, and other work continues. Errors of the Git host are thrown. */
  async attempt(work: PausableWork, attempt: () => Promise<void>): Promise<void> {
    if (this.covers(work.key)) return;
    try {
      await attempt();
      this.recordSuccess(work.key);
    } catch (error) {
      if (error instanceof GitHostError) throw error;
      this.recordFailure(work, error);
    }
  }

  /** Pauses the work, for `leastMs` at least. Returns when the pause ends. */
  recordFailure({ subject, key }: PausableWork, error: unknown, leastMs = 0): Date {
    const backoff =
      this.pauses.get(key)?.backoff ??
      new Backoff({
        logger: this.logger,
        subject,
        fields: { id: key },
        firstMs: this.firstMs,
        maxMs: LONGEST_PAUSE_MS,
      });
    const retryAfter = error instanceof GitHostError ? (error.retryAfter ?? 0) : 0;
    const pauseMs = Math.max(backoff.failed(error), retryAfter * 1_000, leastMs);
    const until = this.clock.now().getTime() + pauseMs;
    this.pauses.set(key, { backoff, until });
    return new Date(until);
  }

  recordSuccess(key: string): void {
    this.pauses.get(key)?.backoff.succeeded();
    this.pauses.delete(key);
  }

  /** Removes the pauses of work that nobody has attempted since its pause, such as repositories that no workspace follows. */
  removeOld(): void {
    const now = this.clock.now().getTime();
    for (const [key, { until }] of this.pauses) if (until + LONGEST_PAUSE_MS < now) this.pauses.delete(key);
  }
}
