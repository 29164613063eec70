import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import type { Slice } from './slice.js';

/**
 * Brings the database up to date: this library's tables first, then each slice's, in the order they are listed.
 * Migrations are forward-only SQL files; each slice keeps its own numbering. Two processes that start at once wait for
 * one another. Resolves to the names of those that ran.
 */
export const migrate = async (url: string, slices: readonly Slice[]): Promise<string[]> => {
  const client = new pg.Client({ connectionString: url, application_name: 'cadastre migrate' });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    const ran: string[] = [];
    for (const [name, folder] of [['event_store', new URL('./sql/', import.meta.url)], ...foldersOf(slices)] as const) {
      const done = await runner({
        dbClient: client,
        dir: fileURLToPath(folder),
        direction: 'up',
        migrationsSchema: 'migrations',
        createMigrationsSchema: true,
        migrationsTable: name,
        noLock: true,
        log: () => undefined,
      });
      ran.push(...done.map((migration) => migration.name));
    }
    return ran;
  } finally {
    await client.end();
  }
};

const LOCK = 7_311_640_105;

const foldersOf = (slices: readonly Slice[]): [string, URL][] =>
  slices.flatMap(({ name, migrations }) =>
    migrations ? [[name.replaceAll('-', '_'), migrations] as [string, URL]] : [],
  );
