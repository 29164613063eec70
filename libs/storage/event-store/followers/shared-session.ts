import { sql } from '#platform/kernel';
import type { Database, DatabaseSession } from '#platform/postgres';

/** A connection with several owners. It closes when the last of them closes it. */
export type SharedSession = DatabaseSession & {
  /** Returns the same connection for another owner. */
  share(): SharedSession;
  /** Calls the listener when the connection has ended or is broken. */
  onEnd(listener: () => void): void;
};

/**
 * Time after which Postgres closes the connection of a leader that has stopped, for example by SIGSTOP or with its virtual
 * machine. The leader holds locks on it. Without this time, nobody could take over while the kernel keeps the connection.
 */
const LEASE = '15s';
const HEARTBEAT_MS = 3_000;

/** Rejects if the connection, and with it the locks of this process, have ended. */
export const requireOpenSession = async (session: Pick<DatabaseSession, 'run'>): Promise<void> => {
  await session.run(sql`select`);
};

/** Opens a connection for locks of followers. Postgres closes it soon after the process has stopped. */
export const openSharedSession = async (database: Database): Promise<SharedSession> => {
  const listeners = new Set<() => void>();
  // The connection can end before it is open.
  let heartbeat: NodeJS.Timeout | undefined;
  const session = await database.session(() => {
    clearInterval(heartbeat);
    for (const listener of listeners) listener();
  });
  // If it fails, the connection is broken. Its owners learn that from their next statement.
  heartbeat = setInterval(() => void session.run(sql`select`).catch(() => undefined), HEARTBEAT_MS);
  for (const name of ['idle_session_timeout', 'idle_in_transaction_session_timeout'])
    await session.run(sql.raw(`set ${name} = '${LEASE}'`));
  let owners = 0;
  const share = (): SharedSession => {
    owners += 1;
    let isClosed = false;
    return {
      ...session,
      share,
      onEnd: (listener) => void listeners.add(listener),
      close: async () => {
        if (isClosed) return;
        isClosed = true;
        owners -= 1;
        if (owners > 0) return;
        clearInterval(heartbeat);
        await session.close();
      },
    };
  };
  return share();
};
