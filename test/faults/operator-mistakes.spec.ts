import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startConnectionPooler } from '../support/connection-pooler.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { launchProduct, type Product } from '../support/product.js';

let product: Product;
let database: TestDatabase;
const role = `weak_${randomBytes(4).toString('hex')}`;

beforeAll(async () => {
  product = await launchProduct();
  database = await freshDatabase();
});
afterAll(async () => {
  await query(`drop schema if exists event_store, views, migrations cascade; drop role ${role}`);
  await database?.drop();
  await product?.remove();
});

const query = async (text: string): Promise<void> => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(text);
  await client.end();
};

const withUser = (user: string, password: string, name?: string): string =>
  Object.assign(new URL(database.url), {
    username: user,
    password,
    ...(name === undefined ? {} : { pathname: `/${name}` }),
  }).toString();

/** Expects exit code 1 and no standard output. Returns the lines of standard error. */
const refusalOf = async (settings: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string[]> => {
  const ended = await product.runWith(settings, ...args);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  return ended.stderr.trimEnd().split('\n');
};

const key = { CADASTRE_ENCRYPTION_KEY: randomBytes(32).toString('base64') };

describe('a start with invalid settings', () => {
  it('reports all of them at once, one line each', async () => {
    const file = join(product.dataFolder, 'file');
    await writeFile(file, '');
    const lines = await refusalOf(
      {
        CADASTRE_DATA: file,
        CADASTRE_BLOBS: '/sys/kernel/cadastre',
        CADASTRE_TLS: '',
        CADASTRE_TLS_CERT: '/absent',
        CADASTRE_TLS_KEY: '/absent',
        CADASTRE_ADMIN_TOKEN_FILE: '/absent',
        CADASTRE_RETENTION_CHECK_MINUTES: 'hourly',
        HOST: '203.0.113.9',
      },
      'serve',
    );
    expect(lines.map((line) => line.slice(0, line.indexOf(':')))).toEqual([
      'CADASTRE_ADMIN_TOKEN_FILE',
      'CADASTRE_RETENTION_CHECK_MINUTES',
      'CADASTRE_DATA',
      'CADASTRE_BLOBS',
      'CADASTRE_TLS_CERT',
      'CADASTRE_TLS_KEY',
      'HOST',
    ]);
  });
});

describe('a start with an unusable database', () => {
  it('reports in one line that the password is wrong', async () => {
    const url = withUser('cadastre', 'hunter2');
    expect(await refusalOf({ ...key, DATABASE_URL: url }, 'gateway')).toEqual([
      'DATABASE_URL: the database cannot be used (password authentication failed for user "cadastre"); ' +
        'correct the user and password in the URL',
    ]);
  });

  it('reports in one line that the user must not create schemas or extensions', async () => {
    await query(`create role ${role} login password 'weak'`);
    const url = withUser(role, 'weak', 'postgres');
    expect(await refusalOf({ ...key, DATABASE_URL: url }, 'migrate')).toEqual([
      expect.stringMatching(
        /^DATABASE_URL: the database cannot be used \(permission denied for database postgres\); let the user create /,
      ),
    ]);
  });

  it('reports in one line that another version made the database, and what to do', async () => {
    await query(`update migrations.history set name = '002_write_anew' where name = '002_largest_versions'`);
    expect(await refusalOf({ ...key, DATABASE_URL: database.url }, 'serve')).toEqual([
      'DATABASE_URL: another version of Cadastre made the database: in history the migration 002_write_anew ran where ' +
        'this version has 002_largest_versions; nothing was changed. Start the version that made the data, or restore ' +
        'a backup that a release made',
    ]);
    const { code, stdout } = await product.runWith({ ...key, DATABASE_URL: database.url }, 'doctor');
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/FAILED +migrations: .*the migration 002_write_anew ran where/),
    ]);
  });

  it.each([
    ['refuses', 'refuse', 'options'],
    ['does not pass on', 'drop', 'options'],
  ] as const)('names the startup parameter that a connection pooler %s: %s %s', async (_, treatment, parameter) => {
    const empty = await freshDatabase();
    const pooler = await startConnectionPooler(empty.url, parameter, treatment);
    const reason =
      `DATABASE_URL: the database cannot be used (a connection pooler, such as PgBouncer, does not pass ${parameter} ` +
      'to Postgres); also set DATABASE_DIRECT_URL to the URL of Postgres itself, or set DATABASE_URL to it';
    try {
      expect(await refusalOf({ ...key, DATABASE_URL: pooler.url }, 'serve')).toEqual([reason]);
      const { code, stdout } = await product.runWith({ ...key, DATABASE_URL: pooler.url }, 'doctor');
      expect([code, stdout]).toEqual([1, expect.stringContaining(`FAILED   database: ${reason}`)]);
    } finally {
      await pooler.close();
      await empty.drop();
    }
  });

  it('makes a command fail at once if the server cannot be reached', async () => {
    const lines = await refusalOf(
      { ...key, DATABASE_URL: 'postgres://u:p@127.0.0.1:1/x', LOG_LEVEL: 'silent' },
      'verify',
    );
    expect(lines).toEqual([
      expect.stringMatching(
        /^DATABASE_URL: the database cannot be used \(.*ECONNREFUSED.*\); start the database server/,
      ),
    ]);
  });
});
