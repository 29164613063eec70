import { globSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { freshDatabase } from '../support/database.js';
import { ROOT } from '../support/folders.js';

// Migrations replace functions, so the newest form of each stands in a file of its own, as Postgres has it after all migrations.

let expectedFiles: ReadonlyMap<string, string>;

const readFunctions = async (): Promise<readonly { readonly name: string; readonly definition: string }[]> => {
  const fresh = await freshDatabase();
  const client = new pg.Client({ connectionString: fresh.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; definition: string }>(`
      select p.pronamespace::regnamespace || '.' || p.proname as name, pg_get_functiondef(p.oid) as definition
        from pg_proc p
       where p.pronamespace::regnamespace::text !~ '^(?:pg_|information_schema$)'
         and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`);
    return rows;
  } finally {
    await client.end();
    await fresh.drop();
  }
};

type Migration = { readonly folder: string; readonly text: string };

const readMigrations = (): Promise<readonly Migration[]> =>
  Promise.all(
    globSync('libs/*/*/sql/*.sql', { cwd: ROOT }).map(async (file) => ({
      folder: dirname(file),
      text: await readFile(join(ROOT, file), 'utf8'),
    })),
  );

/** Returns the folder of the migrations that create the function. Triggers of other modules can execute it. */
const findFolder = (migrations: readonly Migration[], name: string): string => {
  const created = new RegExp(`create (?:or replace )?function ${name.replace('.', String.raw`\.`)}\\(`, 'i');
  const migration = migrations.find(({ text }) => created.test(text));
  if (!migration) throw new Error(`no migration creates the function ${name}`);
  return migration.folder;
};

beforeAll(async () => {
  const migrations = await readMigrations();
  expectedFiles = new Map(
    (await readFunctions()).map(({ name, definition }) => [
      `${findFolder(migrations, name)}/functions/${name}.sql`,
      `${definition.trimEnd()};\n`,
    ]),
  );
  if (process.env['UPDATE_DOCS'] !== '1') return;
  for (const file of listFiles()) if (!expectedFiles.has(file)) await rm(join(ROOT, file));
  for (const [file, text] of expectedFiles) {
    await mkdir(dirname(join(ROOT, file)), { recursive: true });
    await writeFile(join(ROOT, file), text);
  }
});

const listFiles = (): readonly string[] => globSync('libs/*/*/sql/functions/*.sql', { cwd: ROOT });

it('the files of SQL functions match the migrations (if not, run `npm run docs` and commit what it writes)', async () => {
  const files = await Promise.all(
    listFiles().map(async (file) => [file, await readFile(join(ROOT, file), 'utf8')] as const),
  );
  expect(expectedFiles.size).toBeGreaterThan(20);
  expect(Object.fromEntries(files)).toEqual(Object.fromEntries(expectedFiles));
});
