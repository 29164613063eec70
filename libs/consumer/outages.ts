/**
 * Classes of SQLSTATE in which the database, and not the record, is the cause: connection, serialization and deadlocks,
 * resources, operator intervention, system.
 */
const OUTAGE_CLASSES = ['08', '40', '53', '57', '58'];

const CONNECTION_CODES = ['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH'];

const LOST = /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error/i;

/** Returns whether an error comes from Postgres or the network being away, so that another attempt can succeed. */
export const isOutage = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string') {
    return CONNECTION_CODES.includes(code) || (code.length === 5 && OUTAGE_CLASSES.includes(code.slice(0, 2)));
  }
  return LOST.test(error.message);
};
