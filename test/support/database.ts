import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { migrate } from '#storage/event-store';
import { moduleDefinitions } from '../../apps/modules.js';

export type TestDatabase = { readonly name: string; readonly url: string; drop(): Promise<void> };

/** Returns the URL of this worker's Postgres. Jest numbers its workers from 1. */
const serverUrl = (): URL => {
  const variable = `CADASTRE_TEST_POSTGRES_${process.env['JEST_WORKER_ID'] ?? ''}`;
  const url = process.env[variable];
  if (!url) throw new Error(`${variable} is not set: run the tests with npm test`);
  return new URL(url);
};

const urlOf = (name: string): string => Object.assign(serverUrl(), { pathname: `/${name}` }).toString();

const asAdministrator = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: urlOf('postgres') });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

const TEMPLATE = 'migrated';

let template: Promise<void> | null = null;

/** Migrates the template once for all files of a worker. */
const makeTemplate = (): Promise<void> =>
  asAdministrator(async (client) => {
    const existing = await client.query('select 1 from pg_database where datname = $1', [TEMPLATE]);
    if (existing.rowCount !== 0) return;
    await client.query(`create database ${TEMPLATE}_new`);
    await migrate(urlOf(`${TEMPLATE}_new`), moduleDefinitions);
    await client.query(`alter database ${TEMPLATE}_new rename to ${TEMPLATE}`);
  });

/** Creates a migrated, empty database. */
export const freshDatabase = async (): Promise<TestDatabase> => {
  template ??= makeTemplate();
  await template;
  return copyDatabase(TEMPLATE);
};

/** Creates a database without tables. */
export const unmigratedDatabase = (): Promise<TestDatabase> => copyDatabase('template1');

/** Creates a copy of a database of this worker that nobody uses. */
export const copyDatabase = async (from: string): Promise<TestDatabase> => {
  const name = `t_${randomBytes(6).toString('hex')}`;
  // A copy of the files takes 0.02 s of CPU. The default strategy writes all blocks to the WAL, and takes 0.2 s.
  await asAdministrator((client) => client.query(`create database ${name} template ${from} strategy file_copy`));
  return {
    name,
    url: urlOf(name),
    drop: () => asAdministrator(async (client) => void (await client.query(`drop database ${name} with (force)`))),
  };
};
