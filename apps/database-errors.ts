import { isOutage, isPoolerRefusal, PooledConnectionError, PoolerError } from '#platform/postgres';
import { getErrorCode } from '#platform/kernel';
import type { Settings } from '#platform/settings';

const EXTENSIONS = 'the extensions pg_trgm and btree_gin';

/** Advice for the operator, by SQLSTATE. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28P01': 'correct the user and password in the URL',
  '28000': 'correct the user in the URL, or allow it in pg_hba.conf of the server',
  '3D000': 'create the database, or correct its name in the URL',
  '42501': `let the user create schemas in the database, or let an administrator create ${EXTENSIONS}`,
  '58P01': `install ${EXTENSIONS} on the server (package postgresql-contrib)`,
  '0A000': `install ${EXTENSIONS} on the server (package postgresql-contrib)`,
  '53100': 'free space on the disk of the database',
  '53300': 'close connections, or raise max_connections of the server',
  '25006': 'set the URL of the primary server: this server is read-only',
};

/** Returns the variable with the address for sessions; null with the embedded Postgres. */
export const nameDatabaseVariable = ({ database }: Pick<Settings, 'database'>): string | null => {
  if (database.mode !== 'url') return null;
  return database.poolerUrl === null ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
};

/** Returns one line for the operator: why the database cannot be used at the start, and what to do. */
export const describeDatabaseError = (error: unknown, settings: Pick<Settings, 'database'>): string => {
  if (error instanceof PoolerError) return `DATABASE_URL: ${describeCause(error.cause, 'url')}`;
  const variable = nameDatabaseVariable(settings);
  return `${variable === null ? '' : `${variable}: `}${describeCause(error, settings.database.mode)}`;
};

const describeCause = (error: unknown, mode: Settings['database']['mode']): string => {
  const remedy = findRemedy(error, mode);
  return `the database cannot be used (${describeReason(error)})${remedy === null ? '' : `; ${remedy}`}`;
};

const findRemedy = (error: unknown, mode: Settings['database']['mode']): string | null => {
  if (error instanceof PooledConnectionError) return error.remedy;
  if (isPoolerRefusal(error))
    return 'correct the user, password and database in the URL, or the configuration of the pooler';
  return REMEDIES[getErrorCode(error) ?? ''] ?? (isOutage(error) ? describeOutageRemedy(mode) : null);
};

const describeOutageRemedy = (mode: Settings['database']['mode']): string =>
  mode === 'url' ? 'start the database server, or correct the address in the URL' : 'try again';

/** Returns the message on one line. If all addresses refuse the connection, Node reports only a code. */
const describeReason = (error: unknown): string => {
  const text = error instanceof Error && error.message !== '' ? error.message : (getErrorCode(error) ?? String(error));
  return text.trim().replaceAll(/\s*\n\s*/g, ' ');
};
