import { sql, type LogPosition, type Sql } from '#platform/kernel';
import type { Database, DatabaseSession } from '#platform/postgres';

const CHANNEL = 'cadastre_log';
const DELAY_MS = 5;
/** A follower that was notified reads the log at least this often until the log is quiet. */
const MIN_INTERVAL_MS = 100;

/** Followers of this process that share a connection, and listen on it. */
type LogListener = {
  /** Process id of the connection in Postgres. */
  readonly backend: number;
  readonly wake: () => void;
};

/**
 * Notifies followers that the log has grown.
 *
 * The notification is sent after the commit, in a separate statement, at most once in 100 ms. A NOTIFY inside the append
 * would make all commits of the cluster wait for one lock, which prevents group commit, and would wake the backends of
 * all followers each time. Followers of this process are woken directly: NOTIFY is a transaction that writes, so it is
 * used only if another process listens. The notification is only a hint: followers also poll.
 */
export class LogSignal {
  private timer: NodeJS.Timeout | null = null;
  private lastNotifiedAt = -MIN_INTERVAL_MS;
  private readonly listeners = new Set<LogListener>();

  constructor(private readonly database: Database) {}

  /** Returns a function that removes the listener. */
  addListener(listener: LogListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  notify(): void {
    this.timer ??= setTimeout(
      () => {
        this.timer = null;
        this.lastNotifiedAt = performance.now();
        for (const { wake } of this.listeners) wake();
        // A lost notification costs a follower one polling interval. Other statements report the outage.
        this.database.rows(notifyOthers([...this.listeners].map(({ backend }) => backend))).catch(() => undefined);
      },
      Math.max(DELAY_MS, this.lastNotifiedAt + MIN_INTERVAL_MS - performance.now()),
    ).unref();
  }

  stop(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }
}

/** Connections that listen hold this lock. The two numbers are the class and the id of an advisory lock. */
const LISTENER_CLASS = 731_164_011;
const LISTENER_LOCK = sql.raw(`${LISTENER_CLASS}, 0`);

/** Lets a connection get notifications. Returns its process id in Postgres. */
export const listenForLog = async (session: Pick<DatabaseSession, 'run'>): Promise<number> => {
  await session.run(sql.raw(`listen ${CHANNEL}`));
  await session.run(sql`select pg_advisory_lock_shared(${LISTENER_LOCK})`);
  const [row] = await session.run<{ backend: number }>(sql`select pg_backend_pid() as backend`);
  return row?.backend ?? 0;
};

/** Returns the statement that notifies listeners on other connections than these. Returns a row if there are any. */
export const notifyOthers = (backends: readonly number[]): Sql => sql`
  select pg_notify(${CHANNEL}, '')
   where exists (
     select from pg_locks
      where locktype = 'advisory' and classid::bigint = ${sql.raw(String(LISTENER_CLASS))} and objsubid = 2 and granted
        and database = (select oid from pg_database where datname = current_database())
        and pid <> all (${backends}::integer[]))`;

/** A reader of a view, perhaps in another process, waits until the follower has stored the position. */
type ReadRequest = { readonly follower: string; readonly position: LogPosition };

/** Returns the statement that makes the follower's process read the log at once. */
export const sendReadRequest = ({ follower, position: { transaction, position } }: ReadRequest): Sql =>
  sql`select pg_notify(${CHANNEL}, ${`${follower} ${transaction} ${position}`})`;

/** Returns null for the notification that the log has grown. */
export const parseReadRequest = (payload: string): ReadRequest | null => {
  const [, follower, transaction, position] = /^(\S+) (\d+) (\d+)$/.exec(payload) ?? [];
  if (follower === undefined || transaction === undefined) return null;
  return { follower, position: { transaction, position: Number(position) } };
};
