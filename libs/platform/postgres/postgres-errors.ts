import { toLabel, unprocessable } from '#platform/kernel';

/**
 * The members of a Postgres error that the code uses. @see https://www.postgresql.org/docs/18/errcodes-appendix.html
 */
type PostgresError = { readonly code: string; readonly constraint?: string; readonly detail?: string };

/** Returns the SQLSTATE of an error, or an empty text for any other error. */
export const getSqlState = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string' ? error.code : '';

const getErrorMessage = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : '';

/** Returns whether Postgres ends the connection because of this error. */
export const isFatalError = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'severity' in error && error.severity === 'FATAL';

/** Returns whether event_store.append found another version of the stream than the decision was based on. */
export const isVersionConflictError = (error: unknown): boolean => getSqlState(error) === 'CA409';

/** Returns whether event_store.hold_people found that a person whose name the transaction writes has been forgotten. */
export const isForgottenPersonError = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && (error as Partial<PostgresError>).constraint === 'person_keys_known';

/** Returns the streams that event_store.begin_group found to be locked or to have another version; null for other errors. */
export const parseNamedStreams = (error: unknown): readonly string[] | null => {
  const { detail } = error as Partial<PostgresError>;
  return ['CA409', 'CA423'].includes(getSqlState(error)) && detail ? (JSON.parse(detail) as readonly string[]) : null;
};

/** Returns whether a serialization failure or a deadlock occurred. The same work may succeed if it is repeated. */
export const isRetryableError = (error: unknown): boolean => ['40001', '40P01'].includes(getSqlState(error));

/** Returns whether another transaction held a lock for longer than this one waits. */
export const isLockTimeout = (error: unknown): boolean => getSqlState(error) === '55P03';

/**
 * Returns whether a prepared statement returns columns of other types than when it was prepared, because a rebuild exchanged
 * the tables of a view.
 */
export const isOutdatedPlanError = (error: unknown): boolean =>
  getSqlState(error) === '0A000' && getErrorMessage(error).startsWith('cached plan must not change');

/** Returns whether a prepared statement is missing, exists already or is outdated; see Database. */
export const isPreparedStatementError = (error: unknown): boolean =>
  ['26000', '42P05'].includes(getSqlState(error)) || isOutdatedPlanError(error);

/** Returns the name of the violated unique constraint, or null for any other error. */
export const getViolatedConstraint = (error: unknown): string | null =>
  getSqlState(error) === '23505' ? ((error as unknown as PostgresError).constraint ?? '') : null;

/**
 * Returns whether Postgres can never store the data, however often the write is retried: data exceptions and program
 * limits.
 */
export const isUnstorable = (error: unknown): boolean => /^(?:22|54)...$/.test(getSqlState(error));

// Texts of PgBouncer, before and since version 1.20, and of Amazon RDS Proxy.
const REFUSED_PARAMETER = /^unsupported startup parameter(?: in options)?: (\w+)/;
const REFUSED_OPTIONS = /RDS Proxy .*command-line options/;

/** Returns the startup parameter that a connection pooler refused, or null for any other error. */
export const findRefusedParameter = (error: unknown): string | null => {
  const message = getErrorMessage(error);
  if (REFUSED_OPTIONS.test(message)) return 'options';
  return REFUSED_PARAMETER.exec(message)?.[1] ?? null;
};

// PgBouncer reports every refusal as a protocol violation.
const POOLER_REFUSAL =
  /^(?:no such (?:database|user)|database ".*" does not exist|bouncer config error|[^:]*authentication failed)/;

/** Returns whether a connection pooler refused the database, the user or the password, which a retry does not change. */
export const isPoolerRefusal = (error: unknown): boolean =>
  getSqlState(error) === '08P01' && POOLER_REFUSAL.test(getErrorMessage(error));

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
/** Returns whether Postgres cancelled the statement because it exceeded the time limit of its connection. */
export const isStatementTimeout = (error: unknown): boolean => getSqlState(error) === '57014';

// Connection exceptions; shutdown and start-up; out of memory, disk space or connections; a statement or lock that took
// too long; a primary that became a replica.
const OUTAGE_STATES = /^(?:08...|57P0[1-5]|57014|55P03|53...|25006)$/;
const OUTAGE_TEXTS =
  /^(?:Connection terminated|timeout expired|Client has encountered a connection error|Client was closed|Query read timeout)/;

/**
 * Returns whether Postgres could not run the statement at all: it is down, starting, stopping, or out of connections.
 */
export const isOutage = (error: unknown): boolean => {
  const code = getSqlState(error);
  // Their code is that of a protocol violation, but a retry would get the same refusal.
  if (findRefusedParameter(error) !== null || isPoolerRefusal(error)) return false;
  if (OUTAGE_CODES.has(code) || OUTAGE_STATES.test(code)) return true;
  return OUTAGE_TEXTS.test(getErrorMessage(error));
};

/**
 * Returns a handler for `catch`. It throws 422 if one of these constraints was violated, because the name or the
 * attribute is already taken. `remedy`: what the caller can do.
 */
export const refuseTakenName =
  (constraints: string | readonly string[], attribute = 'name', remedy?: string) =>
  (error: unknown): never => {
    const broken = getViolatedConstraint(error);
    if (broken !== null && [constraints].flat().includes(broken)) {
      const detail = `${toLabel(attribute)} has already been taken`;
      throw unprocessable(remedy === undefined ? detail : `${detail}: ${remedy}`, attribute);
    }
    throw error;
  };
