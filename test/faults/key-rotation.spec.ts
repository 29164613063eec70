import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { EncryptionKeys } from '#platform/encryption';
import { Database } from '#platform/postgres';
import { Vault } from '#storage/vault';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { BUILD } from '../support/folders.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { expectStatus, makeOrganization, makeOrganizationToken, makeWorkspace, resource } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';
import { expectNothingLost, type BackgroundLoad } from './background-load.js';
import { Clients } from './clients.js';
import { readLog } from './recorded-log.js';

const LONG = 240_000;

const [OLD, NEW] = [randomBytes(32), randomBytes(32)];
const OLD_SETTINGS = { CADASTRE_ENCRYPTION_KEY: OLD.toString('base64') };
const BOTH_SETTINGS = {
  CADASTRE_ENCRYPTION_KEY: NEW.toString('base64'),
  CADASTRE_ENCRYPTION_KEY_PREVIOUS: OLD.toString('base64'),
};
const NEW_SETTINGS = { CADASTRE_ENCRYPTION_KEY: NEW.toString('base64'), CADASTRE_ENCRYPTION_KEY_PREVIOUS: '' };

let blobs: string;
let testDatabase: TestDatabase;
let shared: Readonly<Record<string, string>>;
const products: Product[] = [];

beforeEach(async () => {
  blobs = await mkdtemp(join(tmpdir(), 'cadastre-blobs-'));
  testDatabase = await freshDatabase();
  shared = {
    DATABASE_URL: testDatabase.url,
    CADASTRE_BLOBS: blobs,
    CADASTRE_ADMIN_TOKEN: `test.atlasv1.${randomBytes(24).toString('hex')}`,
    CADASTRE_SHUTDOWN_DELAY_SECONDS: '0',
  };
});

afterEach(async () => {
  for (const product of products.splice(0)) await product.remove();
  await testDatabase.drop();
  await rm(blobs, { recursive: true, force: true });
});

const start = async (process: 'serve' | 'gateway', keys: Readonly<Record<string, string>>): Promise<Product> => {
  const product = await launchProduct({ ...shared, ...keys });
  products.push(product);
  await product.start(process);
  return product;
};

/** Without pauses, the test takes 87 s of CPU, most of it for requests during the restarts. */
const PAUSE_MS = 200;

const VALUES = Array.from({ length: 20 }, (_, n) => `secret ${n}`);

/** Creates sensitive variables. Returns their ids. */
const createSecrets = async (api: ApiTestClient, workspace: string): Promise<string[]> => {
  const ids: string[] = [];
  for (const [n, value] of VALUES.entries()) {
    const body = resource('vars', { key: `v${n}`, value, category: 'env', sensitive: true });
    ids.push(expectStatus(await api.post(`/api/v2/workspaces/${workspace}/vars`, body), 201).body.data.id as string);
  }
  return ids;
};

/** Runs the work with a connection to the database. */
const withClient = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

/** Runs `keys rotate` until it waits for a transaction of this test, and kills it. */
const killRotation = (product: Product): Promise<void> =>
  withClient(async (client) => {
    await client.query('begin');
    await client.query('select from vault.secrets order by id desc limit 1 for update');
    const main = join(BUILD, 'dist/apps/cadastre/src/main.js');
    const env = { PATH: process.env['PATH'] ?? '', ...shared, ...BOTH_SETTINGS, CADASTRE_DATA: product.dataFolder };
    const rotation = spawn(process.execPath, [main, 'keys', 'rotate'], { cwd: BUILD, env, stdio: 'ignore' });
    const isWaiting = async (): Promise<boolean> => {
      if (rotation.exitCode !== null) throw new Error('the rotation ended before it was killed');
      // A transaction would see the same activity again and again.
      const activity = await withClient((other) =>
        other.query(`select from pg_stat_activity where wait_event_type = 'Lock' and query ~ 'update vault.secrets'`),
      );
      return activity.rowCount === 1;
    };
    await waitUntil(isWaiting, 'the rotation waits');
    rotation.kill('SIGKILL');
    await once(rotation, 'exit');
    await client.query('rollback');
  });

it(
  'a rotation of the key, interrupted by kill -9, fails no request, and then the new key alone reads everything',
  async () => {
    let [one, two] = [await start('serve', OLD_SETTINGS), await start('gateway', OLD_SETTINGS)];
    let target = one;
    const api = createApiTestClient(one.url, one.adminToken);
    const organization = await makeOrganization(api, 'acme');
    const trailToken = await makeOrganizationToken(api, 'acme');
    const secrets = await createSecrets(api, await makeWorkspace(api, 'acme', 'secrets'));
    const earlier = new Set((await readLog(testDatabase.url)).map(({ id }) => id));
    const clients = new Clients(
      {
        get url() {
          return target.url;
        },
        token: one.adminToken,
        up: () => Promise.resolve(),
      },
      'acme',
      PAUSE_MS,
    );
    clients.start(3);
    await clients.acknowledged(30);
    expect(await one.runWith(BOTH_SETTINGS, 'keys', 'rotate')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/these processes do not have the current key: cadastre gateway/),
    });

    // A rolling restart: requests go to the process that stays.
    target = one;
    await clients.acknowledged(10);
    await two.stop();
    two = await start('gateway', BOTH_SETTINGS);
    target = two;
    await clients.acknowledged(30);
    await one.stop();
    one = await start('serve', BOTH_SETTINGS);
    await killRotation(one);
    const status = await one.run('keys', 'status', '--json');
    expect(JSON.parse(status.stdout)).toMatchObject({ isRotating: true });
    await clients.acknowledged(10);
    const rotated = await one.run('keys', 'rotate');
    expect(rotated).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^state-versions: [1-9]\d* encrypted again$/m),
    });
    expect(rotated.stdout).toMatch(/All values .* Remove CADASTRE_ENCRYPTION_KEY_PREVIOUS after \d{4}-.*\n$/);
    expect((await one.run('keys', 'status')).stdout).toMatch(/^previous +[0-9a-f]{8}(?: +0)+\nnot configured/m);

    target = one;
    await clients.acknowledged(10);
    await two.stop();
    two = await start('gateway', NEW_SETTINGS);
    target = two;
    await clients.acknowledged(20);
    await one.stop();
    one = await start('serve', NEW_SETTINGS);
    await clients.stop();
    expect(new Set(clients.statuses.keys())).toEqual(new Set([200, 201]));
    expect(clients.ledger.count('unknown')).toBe(0);
    const work: BackgroundLoad = {
      product: one,
      databaseUrl: () => Promise.resolve(testDatabase.url),
      clients,
      organization,
      trailToken,
      earlier,
    };
    await expectNothingLost(work);
    await expectSecrets(secrets);
  },
  LONG,
);

/** Expects the new key alone to decrypt the secrets. */
const expectSecrets = async (ids: readonly string[]): Promise<void> => {
  const database = new Database({ url: testDatabase.url, connections: 1, applicationName: 'test' });
  const vault = new Vault(database, new EncryptionKeys(NEW));
  expect(await Promise.all(ids.map((id) => vault.open(id)))).toEqual(VALUES);
  await database.close();
};

it('verify and status report values whose key is missing', async () => {
  const product = await start('serve', OLD_SETTINGS);
  const api = createApiTestClient(product.url, product.adminToken);
  await makeOrganization(api, 'acme');
  await createSecrets(api, await makeWorkspace(api, 'acme', 'secrets'));
  await withClient((client) =>
    client.query(
      `update vault.secrets set sealed = overlay(sealed placing 'lost' from 2)
        where id in (select id from vault.secrets limit 3)`,
    ),
  );
  const verified = await product.run('verify');
  expect(verified).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^keys: MISSING for 3 of vault\.secrets;/m),
  });
  const status = await product.run('keys', 'status');
  expect(status.stdout).toMatch(
    /^KEY +ID +event_store\.person_keys +vault\.secrets +runs\.log_chunks +runs\.job_values +runs\.task_outcome_bodies +sign_in\.totp_secrets +notifications\.deliveries +audit_trail\.logs +state-versions +/m,
  );
  expect(status.stdout).toMatch(/^not configured +– +0 +3(?: +0){10}$/m);
  expect(status.stdout).toMatch(/^No rotation is due\.$/m);
  expect(await product.run('keys', 'rotate')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^CADASTRE_ENCRYPTION_KEY_PREVIOUS: missing; set it to the key until now/),
  });
});
