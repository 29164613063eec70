import { sql } from '#kernel';
import type { Database } from './database.js';

const CHANNEL = 'cadastre_log';
const EVERY_MS = 5;

/**
 * Tells followers that the log has grown.
 *
 * The notification goes out after the commit, in a statement of its own, at most once in 5 ms: a NOTIFY inside the
 * append would make all commits of the cluster queue for one lock, and so undo group commit. It is a hint only;
 * followers also look by themselves.
 */
export class LogSignal {
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly database: Database) {}

  notify(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      // Losing it costs a follower one polling interval, and the outage that loses it is reported by everyone else.
      this.database.rows(sql`select pg_notify(${CHANNEL}, '')`).catch(() => undefined);
    }, EVERY_MS).unref();
  }

  stop(): void {
    if (this.timer) clearTimeout(this.timer);
  }
}

export const LISTEN = sql.raw(`listen ${CHANNEL}`);
