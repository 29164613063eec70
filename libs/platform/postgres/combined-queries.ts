import { sql, type Sql } from '#platform/kernel';
import type { Database } from './database.js';
import type { DatabaseRow } from './database-row.js';
import { formatIsoTime } from './row-types.js';

/**
 * Returns the rows of several queries from one statement. With `slowFor` it counts as a slow
 * statement of that caller. A statement of several queries is not kept: there are thousands of combinations, and each
 * prepared statement takes about 150 kB on every connection.
 *
 * The rows arrive as JSON, in which times have another format: `2026-11-21T10:41:51.12+00:00`. Columns with a name
 * `…At`, which all times have, are converted to the format of other rows.
 */
export const runCombinedQueries = async (
  database: Database,
  queries: readonly Sql[],
  slowFor: { readonly id: string } | null = null,
): Promise<DatabaseRow[][]> => {
  if (queries.length === 0) return [];
  const columns = queries.map(
    (query, n) => sql`(select coalesce(json_agg(found.*), '[]') from (${query}) found) as ${sql.raw(`"${n}"`)}`,
  );
  const joined = sql`select ${sql.join(columns, ', ')}`;
  const statement = queries.length > 1 ? sql.unkept(joined) : joined;
  type Together = Record<string, readonly DatabaseRow[]>;
  const [together] = await (slowFor
    ? database.slowRows<Together>(slowFor, statement)
    : database.rows<Together>(statement));
  return queries.map((_, n) => (together?.[n] ?? []).map(normalizeTimes));
};

const normalizeTimes = (row: DatabaseRow): DatabaseRow => {
  const times = Object.entries(row).filter(([column, value]) => column.endsWith('At') && typeof value === 'string');
  return {
    ...row,
    ...Object.fromEntries(times.map(([column, time]) => [column, formatIsoTime((time as string).slice(0, -3))])),
  };
};
