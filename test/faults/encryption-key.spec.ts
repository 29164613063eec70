import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { contentOf, launchProduct, type Product } from '../support/product.js';
import { makeOrganization } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';

const another = { CADASTRE_ENCRYPTION_KEY: randomBytes(32).toString('base64') };
const REFUSED =
  /^CADASTRE_ENCRYPTION_KEY: this key is not the one that the database is encrypted with; set the key .*\n$/;

let product: Product;

beforeAll(async () => {
  product = await launchProduct();
  await product.start();
  await makeOrganization(createApiTestClient(product.url, product.adminToken), 'acme');
});
afterAll(() => product?.remove());

const query = async (text: string): Promise<void> => {
  const client = new pg.Client({ connectionString: await product.databaseUrl() });
  await client.connect();
  await client.query(text);
  await client.end();
};

describe('another encryption key', () => {
  it.each([
    ['token', 'create', '--user', 'ada'],
    ['user', 'forget', 'admin'],
    ['verify'],
    ['rebuild', 'access'],
    ['migrate'],
  ])('is refused by %s %s beside a running server', async (...args) => {
    const ended = await product.runWith(another, ...args);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(REFUSED);
  });

  it.each(['serve', 'gateway', 'projector', 'publisher'])('is refused by %s', async (name) => {
    const settings = { ...another, DATABASE_URL: await product.databaseUrl(), KAFKA_BROKERS: '127.0.0.1:1', PORT: '1' };
    const ended = await product.runWith(settings, name);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(REFUSED);
  });

  it('is refused if a database of an earlier version has no fingerprint yet', async () => {
    await query('delete from event_store.encryption_key');
    const ended = await product.runWith(another, 'migrate');
    expect(ended.stderr).toMatch(REFUSED);
    expect(await product.run('migrate')).toMatchObject({ code: 0 });
  });

  it('changes nothing: verify succeeds with the original key', async () => {
    expect(await product.run('verify')).toMatchObject({ code: 0 });
  });

  it('is refused at the start of a site with an embedded database, which then stops', async () => {
    await product.stop();
    const ended = await product.runWith(another, 'serve');
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(REFUSED);
    expect(product.isPostgresRunning()).toBe(false);
  });

  it('is not created if the key file of a site is missing', async () => {
    const file = join(product.dataFolder, 'encryption-key');
    expect(contentOf(file)).not.toBe('');
    await rm(file);
    const ended = await product.run('serve');
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toMatch(
      /^CADASTRE_ENCRYPTION_KEY: not set, and \S+\/encryption-key is missing, .*restore the file .*\n$/,
    );
    expect(contentOf(file)).toBe('');
  });
});
