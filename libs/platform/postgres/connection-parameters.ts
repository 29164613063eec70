import { sql } from '#platform/kernel';
import type { Database } from './database.js';
import { findRefusedParameter } from './postgres-errors.js';

/**
 * Thrown if Postgres does not get a parameter that each connection sets, because a connection pooler refuses it or
 * drops it.
 */
export class PooledConnectionError extends Error {
  constructor(readonly parameter: string) {
    super(`a connection pooler, such as PgBouncer, does not pass ${parameter} to Postgres`);
    this.name = 'PooledConnection';
  }
}

type ConnectionParameters = {
  readonly options: boolean;
  readonly statement_timeout: boolean;
  readonly lock_timeout: boolean;
};

/** Opens a connection. Throws PooledConnectionError if Postgres does not get its parameters. */
export const inspectConnectionParameters = async (database: Database): Promise<void> => {
  const arrived = await database
    .row<ConnectionParameters>(
      sql`select current_setting('search_path') = ${database.searchPath} as options,
                 current_setting('statement_timeout') <> '0' as statement_timeout,
                 current_setting('lock_timeout') <> '0' as lock_timeout`,
    )
    .catch((error: unknown) => {
      const refused = findRefusedParameter(error);
      throw refused === null ? error : new PooledConnectionError(refused);
    });
  const missing = Object.entries(arrived ?? {}).find(([, hasArrived]) => !hasArrived);
  if (missing) throw new PooledConnectionError(missing[0]);
};
