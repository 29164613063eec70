import { sql } from '#platform/kernel';
import type { Database } from './database.js';

/** Returns how many connections the server accepts, from all its clients. */
export const readMaxConnections = async (database: Database): Promise<number> => {
  const row = await database.row<{ max: number }>(sql`select current_setting('max_connections')::int as max`);
  return row?.max ?? 0;
};
