import { AbortedTransactionError, LostConnectionError } from './transactions.js';

/** The handler of a record threw. Other errors come from the statements of this package, so Postgres is their cause. */
export class HandlerFailure extends Error {
  override readonly name = 'HandlerFailure';

  constructor(override readonly cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause));
  }
}

/** Postgres asks to repeat a transaction: a serialization failure or a deadlock. */
const isRepeatable = (error: unknown): boolean => {
  const { code, cause } = (error ?? {}) as { readonly code?: unknown; readonly cause?: unknown };
  if (typeof code === 'string' && /^40\w{3}$/.test(code)) return true;
  return cause !== undefined && isRepeatable(cause);
};

/** SQLSTATE of a statement after one that failed. */
const ABORTED = '25P02';

/**
 * Returns the failure of a record: its handler threw, or ignored an error of Postgres. Returns null if another attempt is
 * free: Postgres is unavailable, or asks to repeat the transaction.
 */
export const toHandlerFailure = (error: unknown): HandlerFailure | null => {
  if (error instanceof LostConnectionError) return null;
  if (error instanceof HandlerFailure) return isRepeatable(error.cause) ? null : error;
  if (error instanceof AbortedTransactionError) return new HandlerFailure(error);
  if ((error as { readonly code?: unknown }).code === ABORTED) return new HandlerFailure(new AbortedTransactionError());
  return null;
};
