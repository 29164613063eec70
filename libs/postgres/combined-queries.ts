import { sql, type Sql } from '#kernel';
import type { Database } from './database.js';
import type { DatabaseRow } from './database-row.js';
import { formatIsoTime } from './row-types.js';

/**
 * The rows of several queries, in one statement (DESIGN decision 8). With `slowFor` it is a slow statement of that caller. Where there are several it is not kept: the texts of
 * all that can come together are thousands, and each takes some 150 kB of every connection.
 *
 * Rows come as JSON, which prints times in its own way, `2026-11-21T10:41:51.12+00:00`: columns that are called `…At`, as
 * all of ours that are times, are brought back to what rows have.
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
