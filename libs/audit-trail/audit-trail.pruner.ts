import type { Clock } from '#kernel';
import type { Database, Log } from '#event-store';
import { forgetWalks, pruneSome } from './audit-trail.queries.js';

const EVERY_MS = 10 * 60 * 1_000;
// Each in a transaction of its own: a long one would hold up all followers, who wait for every transaction that runs.
const AT_ONCE = 5_000;

/**
 * Removes entries that are past their retention, at the start and every ten minutes. Runs in the projector; where several
 * do, they share the work. Nobody waits for it: what is too old is not shown anyway.
 */
export class Pruner {
  private timer: NodeJS.Timeout | null = null;
  private stopping = false;
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  start(): void {
    this.running = this.round();
  }

  /** Resolves when nothing of it runs any more. */
  async stop(): Promise<void> {
    this.stopping = true;
    if (this.timer) clearTimeout(this.timer);
    await this.running;
  }

  /** Resolves to the number of entries removed. */
  async prune(): Promise<number> {
    const now = this.clock.now();
    let pruned = 0;
    for (;;) {
      const some = await pruneSome(this.database, now, AT_ONCE);
      pruned += some;
      if (some < AT_ONCE || this.stopping) break;
    }
    await forgetWalks(this.database, now);
    return pruned;
  }

  private async round(): Promise<void> {
    try {
      const pruned = await this.prune();
      if (pruned > 0) this.log.info({ pruned }, 'audit trail pruned');
    } catch (error) {
      this.log.warn({ err: error, retryInMs: EVERY_MS }, 'audit trail not pruned, will retry');
    }
    if (this.stopping) return;
    this.timer = setTimeout(() => this.start(), EVERY_MS);
    // Nothing is lost when the process ends before it is due.
    this.timer.unref();
  }
}
