import { jest } from '@jest/globals';
import { sql } from '#platform/kernel';
import type { TestServer } from './server.js';

/** Returns every row of every table in the database as text, the tables of the log included. */
export const readDatabase = async ({ database }: TestServer): Promise<{ table: string; text: string }[]> => {
  const tables = await database.rows<{ name: string }>(sql`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`);
  const texts = tables.map(async ({ name }) => {
    const rows = await database.rows<{ text: string }>(sql.raw(`select t::text as text from ${name} t`));
    return rows.map(({ text }) => ({ table: name, text }));
  });
  return (await Promise.all(texts)).flat();
};

/** Returns the list that gets all log lines of the server from now on. */
export const recordLogLines = ({ runtime: { logger } }: TestServer): readonly string[] => {
  const logged: string[] = [];
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) {
    jest.spyOn(logger, level).mockImplementation((...parts: unknown[]) => {
      const texts = parts.map((part) => (part instanceof Error ? [part.stack, Object.entries(part)] : part));
      logged.push(`${level} ${JSON.stringify(texts)}`);
    });
  }
  return logged;
};
