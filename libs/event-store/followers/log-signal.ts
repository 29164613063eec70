import { sql, type LogPosition, type Sql } from '#kernel';
import type { Database } from '#postgres';

const CHANNEL = 'cadastre_log';
const DELAY_MS = 5;
/** A follower that was notified reads the log at least this often until the log is quiet. */
const MIN_INTERVAL_MS = 100;

/**
 * Notifies followers that the log has grown.
 *
 * The notification is sent after the commit, in a separate statement, at most once in 100 ms. A NOTIFY inside the append
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

/** A reader of a view, perhaps in another process, waits until the follower has stored the position. */
export type ReadRequest = { readonly follower: string; readonly position: LogPosition };

/** Returns the statement that makes the follower's process read the log at once. */
export const sendReadRequest = ({ follower, position: { transaction, position } }: ReadRequest): Sql =>
  sql`select pg_notify(${CHANNEL}, ${`${follower} ${transaction} ${position}`})`;

/** Returns null for the notification that the log has grown. */
export const parseReadRequest = (payload: string): ReadRequest | null => {
  const [, follower, transaction, position] = /^(\S+) (\d+) (\d+)$/.exec(payload) ?? [];
  if (follower === undefined || transaction === undefined) return null;
  return { follower, position: { transaction, position: Number(position) } };
};
