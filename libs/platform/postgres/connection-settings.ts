import { sql, type Sql } from '#platform/kernel';

/** Settings of Postgres that the statements of a connection run with, by name. */
export type ConnectionSettings = Readonly<Record<string, string>>;

/**
 * By default Postgres assumes that a random page read costs four times a sequential one, as on rotating disks. It would
 * then read the complete table of many organizations rather than half of an index, even for the smallest organization.
 */
const INDEXES_FIRST = { random_page_cost: '1.1' } as const;

/** Settings of every connection. */
export const buildSessionSettings = (searchPath: string): ConnectionSettings => ({
  search_path: searchPath,
  timezone: 'UTC',
  ...INDEXES_FIRST,
});

const LOCK_TIMEOUT_MS = 5_000;

/**
 * Limits the server resources of one statement of a request, whatever the server's configuration allows: time, memory for
 * a sort or a hash, and one processor. Compiling a statement takes longer than most statements run. Followers, rebuild and
 * verify use sessions, which have no such limits.
 */
export const buildStatementSettings = (statementMs: number): ConnectionSettings => ({
  lock_timeout: String(LOCK_TIMEOUT_MS),
  statement_timeout: String(statementMs),
  work_mem: '8MB',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
});

/**
 * Statements of several requests find rows by an array of keys. Postgres would plan them again for each call, because the
 * array may be shorter than it assumes; planning takes several times as long as the statement.
 */
export const ONE_PLAN = { plan_cache_mode: 'force_generic_plan' } as const;

/** Returns the startup parameter `options`, so that a connection has the settings without a further round trip. */
export const toStartupOptions = (settings: ConnectionSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** Returns a statement that applies the settings until the transaction ends, or as long as the session lasts. */
export const selectSettings = (settings: ConnectionSettings, scope: 'transaction' | 'session'): Sql => {
  const calls = Object.entries(settings).map(
    ([name, value]) => `set_config('${name}', '${value}', ${scope === 'transaction'})`,
  );
  return sql.raw(`select ${calls.join(', ')}`);
};
