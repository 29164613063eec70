import { sql } from '#kernel';
import type { Database } from '#postgres';

const CHANNEL = 'cadastre_log';
const DELAY_MS = 5;
const MIN_INTERVAL_MS = 20;

/**
 * Tells followers that the log has grown.
 *
 * The notification goes out after the commit, in a statement of its own, at most once in 20 ms: a NOTIFY inside the
 * append would make all commits of the cluster queue for one lock, and so undo group commit, and each of them wakes the
 * backends of all followers. It is a hint only; followers also look by themselves.
 */
export class LogSignal {
  private timer: NodeJS.Timeout | null = null;
  private lastNotifiedAt = -MIN_INTERVAL_MS;

  constructor(private readonly database: Database) {}

  notify(): void {
    this.timer ??= setTimeout(
      () => {
        this.timer = null;
        this.lastNotifiedAt = performance.now();
        // Losing it costs a follower one polling interval, and the outage that loses it is reported by everyone else.
        this.database.rows(sql`select pg_notify(${CHANNEL}, '')`).catch(() => undefined);
      },
      Math.max(DELAY_MS, this.lastNotifiedAt + MIN_INTERVAL_MS - performance.now()),
    ).unref();
  }

  stop(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }
}

export const LISTEN = sql.raw(`listen ${CHANNEL}`);
