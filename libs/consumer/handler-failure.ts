import { AbortedTransactionError, LostConnectionError } from './transactions.js';

/** The handler of a record threw. Other errors come from the statements of this package, so Postgres is their cause. */
export class HandlerFailure extends Error {
  override readonly name = 'HandlerFailure';

  constructor(override readonly cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause));
  }
}

/** Returns true for a deadlock or a serialization failure: the same transaction can succeed at the next attempt. */
const isRepeatable = (error: unknown): boolean => {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === 'string' && /^40\w{3}$/.test(code)) return true;
  return cause !== undefined && isRepeatable(cause);
};

/** SQLSTATE of a statement after one that failed. */
const ABORTED = '25P02';

/**
 * Returns the failure of a record: its handler threw, or ignored an error of Postgres. Returns null if the attempt does not
 * count: Postgres is unavailable, or reported a deadlock or a serialization failure.
 */
export const toHandlerFailure = (error: unknown): HandlerFailure | null => {
  if (error instanceof LostConnectionError) return null;
  if (error instanceof HandlerFailure) return isRepeatable(error.cause) ? null : error;
  if (error instanceof AbortedTransactionError) return new HandlerFailure(error);
  if ((error as { readonly code?: unknown }).code === ABORTED) return new HandlerFailure(new AbortedTransactionError());
  return null;
};
