import type { Backoff } from '#kernel';
import type { Database, DatabaseSession } from './database.js';
import { pause } from './pause.js';

/** Work that one process at a time does, the one that holds an advisory lock. */
export type LeaderOptions = {
  readonly database: Database;
  readonly backoff: Backoff;
  readonly signal: AbortSignal;
  /**
   * Leads on this session for as long as it can. Resolves to false if another process leads, and to true when it is to
   * stop. The lock ends with the session.
   */
  readonly lead: (session: DatabaseSession) => Promise<boolean>;
  /** Milliseconds until it is tried again while another process leads. */
  readonly standbyMs: number;
  readonly countFailure: () => void;
  /** Called when the session's connection has ended. */
  readonly onEnd?: () => void;
};

/** Returns how many milliseconds to wait before the next attempt. */
const tryToLead = async ({
  database,
  backoff,
  lead,
  standbyMs,
  countFailure,
  onEnd,
}: LeaderOptions): Promise<number> => {
  let session: DatabaseSession | null = null;
  try {
    session = await database.session(onEnd);
    if (await lead(session)) return 0;
    // Another process leads: this one is ready to take over.
    backoff.succeeded();
    return standbyMs;
  } catch (error) {
    countFailure();
    return backoff.failed(error);
  } finally {
    // The connection may be broken already; the error was logged above.
    await session?.close().catch(() => undefined);
  }
};

/**
 * Leads, or stands by, until it is to stop. Any error is counted and logged, and after a growing pause everything starts
 * over. Only the signal ends a pause: the end of a broken connection must not.
 */
export const keepLeading = async (leader: LeaderOptions): Promise<void> => {
  while (!leader.signal.aborted) await pause(await tryToLead(leader), leader.signal);
};
