import type { Backoff } from '#platform/kernel';
import type { DatabaseSession } from './database.js';
import { pause } from './pause.js';

/** Work that only one process does at a time: the process that holds an advisory lock. */
type LeaderOptions<S extends DatabaseSession = DatabaseSession> = {
  readonly openSession: () => Promise<S>;
  readonly backoff: Backoff;
  readonly signal: AbortSignal;
  /**
   * Leads on this session as long as possible. Resolves to false if another process leads, and to true after an abort.
   * The lock ends with the session.
   */
  readonly lead: (session: S) => Promise<boolean>;
  /** Milliseconds between attempts while another process leads. */
  readonly standbyMs: number;
  readonly countFailure: () => void;
};

/** Returns the milliseconds to wait before the next attempt. */
const tryToLead = async <S extends DatabaseSession>({
  openSession,
  backoff,
  lead,
  standbyMs,
  countFailure,
}: LeaderOptions<S>): Promise<number> => {
  let session: S | null = null;
  try {
    session = await openSession();
    if (await lead(session)) return 0;
    // Another process leads. This process stands by.
    backoff.succeeded();
    return standbyMs;
  } catch (error) {
    countFailure();
    return backoff.failed(error);
  } finally {
    // The connection may already be broken. The error was logged above.
    await session?.close().catch(() => undefined);
  }
};

/**
 * Leads or stands by until the signal aborts. Counts and logs every error, and starts again after a growing pause. Only
 * the signal ends a pause; the end of a broken connection does not.
 */
export const keepLeading = async <S extends DatabaseSession>(leader: LeaderOptions<S>): Promise<void> => {
  while (!leader.signal.aborted) await pause(await tryToLead(leader), leader.signal);
};
