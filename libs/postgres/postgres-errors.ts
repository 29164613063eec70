import { toLabel, unprocessable } from '#kernel';

/** The parts of a Postgres error that we act on. @see https://www.postgresql.org/docs/18/errcodes-appendix.html */
type PostgresError = { readonly code: string; readonly constraint?: string };

const getSqlState = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';

const getErrorMessage = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : '';

/** Raised by event_store.append: the stream is not at the version that the decision was made on. */
export const isVersionConflictError = (error: unknown): boolean => getSqlState(error) === 'CA409';

/** Raised by event_store.hold_people: somebody whose name was to be written has been forgotten. */
export const isForgottenPersonError = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && (error as Partial<PostgresError>).constraint === 'person_keys_known';

/** Serialization failure and deadlock: the same work may succeed when done again. */
export const isRetryableError = (error: unknown): boolean => ['40001', '40P01'].includes(getSqlState(error));

/** A prepared statement is missing, or there twice: see Database. */
export const isPreparedStatementError = (error: unknown): boolean => ['26000', '42P05'].includes(getSqlState(error));

/** The name of the unique constraint that a statement broke, or null where it broke none. */
export const getViolatedConstraint = (error: unknown): string | null =>
  getSqlState(error) === '23505' ? ((error as unknown as PostgresError).constraint ?? '') : null;

/** What was to be written is nothing that Postgres can keep, however often it is tried: data exceptions, and its limits. */
export const isUnstorable = (error: unknown): boolean => /^(?:22|54)...$/.test(getSqlState(error));

const OUTAGE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** Postgres has cancelled the statement: it took longer than its connection allows. */
export const isStatementTimeout = (error: unknown): boolean => getSqlState(error) === '57014';

// Connection exceptions, shutdown and start-up, out of memory, disk or connections, a statement or lock that took too
// long, and a primary that has become a replica.
const OUTAGE_STATES = /^(?:08...|57P0[1-5]|57014|55P03|53...|25006)$/;
const OUTAGE_TEXTS =
  /^(?:Connection terminated|timeout expired|Client has encountered a connection error|Client was closed|Query read timeout)/;

/** True where Postgres could not be asked at all: it is down, starting, stopping, or out of connections. */
export const isOutage = (error: unknown): boolean => {
  const code = getSqlState(error);
  if (OUTAGE_CODES.has(code) || OUTAGE_STATES.test(code)) return true;
  return OUTAGE_TEXTS.test(getErrorMessage(error));
};

/** For `catch`: one of these constraints keeps a name, or the attribute, unique, and something else has it. */
export const refuseTakenName =
  (constraints: string | readonly string[], attribute = 'name') =>
  (error: unknown): never => {
    const broken = getViolatedConstraint(error);
    if (broken !== null && [constraints].flat().includes(broken)) {
      throw unprocessable(`${toLabel(attribute)} has already been taken`, attribute);
    }
    throw error;
  };
