import { AbortedTransactionError, LostConnectionError } from './transactions.js';

/** The handler of a record threw. Other errors come from the statements of this package, so Postgres is their cause. */
export class HandlerFailure extends Error {
  override readonly name = 'HandlerFailure';

  constructor(override readonly cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause));
  }
}

/**
 * SQLSTATEs that say nothing about the record, because the same transaction can succeed later: deadlocks and serialization
 * failures (40); no disk space, memory or connections (53); lost connections (08); shutdown and start (57P0x); a primary that
 * became a replica (25006). A lock timeout (55P03) and a canceled statement (57014) count as failures of the record: the handler
 * can have set the limit itself, and a statement that is always too slow would hold up the partition for ever.
 * @see https://www.postgresql.org/docs/18/errcodes-appendix.html
 */
const EXCUSED_STATES = /^(?:40|53|08)\w{3}$|^57P0[1-5]$|^25006$/;

const LOCK_TIMEOUT = /^55P03$/;

/** SQLSTATEs of a conflict with another transaction: deadlocks, serialization failures and lock timeouts. */
const CONFLICT_STATES = /^40\w{3}$|^55P03$/;

/** Returns true if an error, or one of its causes, has one of these SQLSTATEs. */
const hasState = (error: unknown, states: RegExp): boolean => {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === 'string' && states.test(code)) return true;
  return cause !== undefined && hasState(cause, states);
};

/** Returns true if another transaction was in the way. The error comes from a handler, or from a statement of this package. */
export const isConflict = (error: unknown): boolean => hasState(error, CONFLICT_STATES);

/** Returns true if another transaction held a lock for longer than this one waits. */
export const isLockTimeout = (error: unknown): boolean => hasState(error, LOCK_TIMEOUT);

/** SQLSTATE of a statement after one that failed. */
const ABORTED = '25P02';

/**
 * Returns the failure of a record: its handler threw, or ignored an error of Postgres. Returns null if the attempt does not
 * count: Postgres is unavailable, has no space, or reported a deadlock or a serialization failure.
 */
export const toHandlerFailure = (error: unknown): HandlerFailure | null => {
  if (error instanceof LostConnectionError) return null;
  if (error instanceof HandlerFailure) return hasState(error.cause, EXCUSED_STATES) ? null : error;
  if (error instanceof AbortedTransactionError) return new HandlerFailure(error);
  if ((error as { readonly code?: unknown }).code === ABORTED) return new HandlerFailure(new AbortedTransactionError());
  return null;
};
