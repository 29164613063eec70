import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { migrate } from '#event-store';
import { slices } from '../../apps/slices.js';

export type TestDatabase = { readonly url: string; drop(): Promise<void> };

const serverUrl = (): URL => {
  const url = process.env['CADASTRE_TEST_POSTGRES'];
  if (!url) throw new Error('CADASTRE_TEST_POSTGRES is not set: run the tests with npm test');
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

/** Changes with every migration, so that a template is never stale. */
const templateName = async (): Promise<string> => {
  const hash = createHash('sha256');
  const folders = [new URL('../../libs/event-store/sql/', import.meta.url), ...slices.map((slice) => slice.migrations)];
  for (const folder of folders) {
    if (!folder) continue;
    for (const file of (await readdir(fileURLToPath(folder))).toSorted())
      hash.update(await readFile(new URL(file, folder)));
  }
  return `template_${hash.digest('hex').slice(0, 12)}`;
};

let template: Promise<string> | null = null;

/** Migrated once a run; workers that come at the same time wait for the first. */
const makeTemplate = async (): Promise<string> => {
  const name = await templateName();
  await asAdministrator(async (client) => {
    await client.query('select pg_advisory_lock(4242)');
    const found = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 0) {
      await client.query(`create database ${name}_new`);
      await migrate(urlOf(`${name}_new`), slices);
      await client.query(`alter database ${name}_new rename to ${name}`);
    }
  });
  return name;
};

/** A migrated, empty database of one's own. */
export const freshDatabase = async (): Promise<TestDatabase> => {
  template ??= makeTemplate();
  const from = await template;
  const name = `t_${randomBytes(6).toString('hex')}`;
  await asAdministrator((client) => client.query(`create database ${name} template ${from}`));
  return {
    url: urlOf(name),
    drop: () => asAdministrator(async (client) => void (await client.query(`drop database ${name} with (force)`))),
  };
};
