import { randomInt } from 'node:crypto';
import { sql } from '#platform/kernel';
import type { Database, DatabaseSession } from './database.js';
import { findRefusedParameter } from './postgres-errors.js';

/** Thrown if a connection pooler is where Cadastre needs sessions of its own. */
export class PooledConnectionError extends Error {
  constructor(
    message: string,
    readonly remedy: string,
  ) {
    super(message);
    this.name = 'PooledConnection';
  }
}

/** Thrown if the address for statements without a session cannot be used, and the direct one can. */
export class PoolerError extends Error {
  constructor(override readonly cause: unknown) {
    super('the connection pooler cannot be used', { cause });
    this.name = 'PoolerError';
  }
}

const createParameterError = (parameter: string): PooledConnectionError =>
  new PooledConnectionError(
    `a connection pooler, such as PgBouncer, does not pass ${parameter} to Postgres`,
    'also set DATABASE_DIRECT_URL to the URL of Postgres itself, or set DATABASE_URL to it',
  );

type ConnectionParameters = {
  readonly options: boolean;
  readonly statement_timeout: boolean;
  readonly lock_timeout: boolean;
};

/** A pooler gives the session that was released last to the next transaction, unless others use the pooler too. */
const ROUNDS = 5;

/**
 * Throws PooledConnectionError if a pooler runs the transactions of one connection in several sessions of Postgres. Such
 * connections cannot keep locks or listen.
 */
const requireOwnSessions = async (database: Database): Promise<void> => {
  const [one, other] = [await database.session(), await database.session()];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      if (await doShareSessions(one, other))
        throw new PooledConnectionError(
          'a connection pooler in transaction mode answers',
          'set the URL of Postgres itself, or of a pooler in session mode',
        );
    }
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
};

const readSessionId = async (session: DatabaseSession): Promise<number | undefined> => {
  const [row] = await session.run<{ pid: number }>(sql.unkept(sql`select pg_backend_pid() as pid`));
  return row?.pid;
};

const doShareSessions = async (one: DatabaseSession, other: DatabaseSession): Promise<boolean> => {
  const before = await readSessionId(one);
  await other.run(sql.unkept(sql`begin`));
  try {
    const meanwhile = await readSessionId(other);
    return before === meanwhile || before !== (await readSessionId(one));
  } finally {
    await other.run(sql.unkept(sql`rollback`));
  }
};

/**
 * Opens connections before anything else uses the database: a session that gets a lock through a pooler in transaction mode
 * would leave it there. Throws PooledConnectionError if Postgres does not get the parameters of a connection, or if a session
 * is not its own, and PoolerError if the pooler cannot be used or leads to another database.
 */
export const inspectConnections = async (database: Database): Promise<void> => {
  if (database.isPooled) {
    await requireOwnSessions(database);
    return inspectPooler(database);
  }
  const arrived = await readParameters(database);
  const missing = Object.entries(arrived ?? {}).find(([, hasArrived]) => !hasArrived);
  if (missing) throw createParameterError(missing[0]);
};

const readParameters = async (database: Database): Promise<ConnectionParameters | undefined> => {
  await database.connected().catch((error: unknown) => {
    const refused = findRefusedParameter(error);
    throw refused === null ? error : createParameterError(refused);
  });
  return database.row<ConnectionParameters>(
    sql`select current_setting('search_path') = ${database.searchPath} as options,
               current_setting('statement_timeout') <> '0' as statement_timeout,
               current_setting('lock_timeout') <> '0' as lock_timeout`,
  );
};

const inspectPooler = async (database: Database): Promise<void> => {
  const session = await database.session();
  const lock = randomInt(2 ** 47);
  try {
    await session.run(sql`select pg_advisory_lock(${lock})`);
    await database.connected().catch((error: unknown) => {
      throw new PoolerError(error);
    });
    const row = await database.row<{ isVisible: boolean }>(
      sql`select exists (select from pg_locks where locktype = 'advisory' and objsubid = 1 and granted
            and (classid::bigint << 32) | objid::bigint = ${lock}
            and database = (select oid from pg_database where datname = current_database())) as "isVisible"`,
    );
    if (!row?.isVisible) throw new PoolerError(new Error('it is not the database of DATABASE_DIRECT_URL'));
  } finally {
    await session.close();
  }
};
