import { sql } from '#kernel';
import type { Database } from '#postgres';

const CHANNEL = 'cadastre_log';
const DELAY_MS = 5;
const MIN_INTERVAL_MS = 20;

/**
 * Notifies followers that the log has grown.
 *
 * The notification is sent after the commit, in a separate statement, at most once in 20 ms. A NOTIFY inside the append
 * would make all commits of the cluster wait for one lock, which prevents group commit, and would wake the backends of
 * all followers each time. The notification is only a hint: followers also poll.
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
        // A lost notification costs a follower one polling interval. Other statements report the outage.
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
