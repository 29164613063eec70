import { existsSync, watch } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { INSTALL_OPENBAO_TIMEOUT_MS, startOpenBao, type OpenBao } from '../support/openbao.js';
import { launchProduct, waitUntil, type LaunchOptions, type ProcessResult, type Product } from '../support/product.js';
import { makeOrganization } from '../support/seeds.js';
import { createApiTestClient } from '../support/server.js';

const LONG = 180_000;

let bao: OpenBao;
let folder: string;
let tokenFile: string;
let vault: Readonly<Record<string, string>>;
const products: Product[] = [];

beforeAll(async () => {
  bao = await startOpenBao();
  folder = await mkdtemp(join(tmpdir(), 'cadastre-wrapped-'));
  tokenFile = join(folder, 'token');
  await writeFile(tokenFile, await bao.createToken());
  vault = { CADASTRE_VAULT_ADDRESS: bao.address, CADASTRE_VAULT_CREDENTIAL_FILE: tokenFile };
}, INSTALL_OPENBAO_TIMEOUT_MS);

afterAll(async () => {
  await bao.remove();
  await rm(folder, { recursive: true, force: true });
});

const removeProducts = async (): Promise<void> => {
  for (const product of products.splice(0)) await product.remove();
};

const launch = async (
  settings: Readonly<Record<string, string>> = {},
  options: LaunchOptions = {},
): Promise<Product> => {
  const product = await launchProduct({ ...vault, ...settings }, options);
  products.push(product);
  return product;
};

const keyFileOf = ({ dataFolder }: Product): string => join(dataFolder, 'encryption-key');
const readKeyFile = async (product: Product): Promise<string> => (await readFile(keyFileOf(product), 'utf8')).trim();

/** Starts a site, and returns it with an organization in it. */
const startSite = async (settings: Readonly<Record<string, string>>, options: LaunchOptions): Promise<Product> => {
  const product = await launch(settings, options);
  await product.start();
  await makeOrganization(createApiTestClient(product.url, product.adminToken), 'acme');
  return product;
};

const expectSuccess = async (ended: Promise<ProcessResult>): Promise<string> => {
  const { code, stdout, stderr } = await ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
  return stdout.trim();
};

/** Starts the product, runs the remedy when the log has this message, and resolves when the product is ready. */
const startAfter = async (product: Product, message: string, remedy: () => Promise<unknown>): Promise<void> => {
  let isReady = false;
  // A failed start rejects here at once, and not only after the wait.
  const started = product.start().then(() => (isReady = true));
  const waiting = waitUntil(() => isReady || product.output().includes(message), `the log contains: ${message}`);
  await Promise.race([waiting, started]);
  expect(isReady).toBe(false);
  expect(product.output()).toContain('unwrapping of the encryption key failed, will retry');
  await remedy();
  await started;
};

describe('a new site with Vault', () => {
  afterEach(removeProducts);

  it(
    'never has its plain key on a disk, waits for Vault at each start, and runs without it',
    async () => {
      const product = await startSite({ LOG_LEVEL: 'info' }, { isNew: true });
      expect(await readKeyFile(product)).toMatch(/^vault:v1:\S+$/);
      expect((await stat(keyFileOf(product))).mode & 0o777).toBe(0o600);

      await bao.stop();
      expect(
        (await createApiTestClient(product.url, product.adminToken).get('/api/v2/organizations/acme')).status,
      ).toBe(200);
      expect((await fetch(`${product.url}/readyz`)).status).toBe(200);
      await product.stop();
      await startAfter(product, 'start Vault, or correct the address', () => bao.start());
      await product.stop();

      await bao.lock();
      await startAfter(product, `Vault at ${bao.address} is sealed; unseal it`, () => bao.unlock());
      await product.stop();

      await writeFile(tokenFile, 's.expired');
      const renew = async () => writeFile(tokenFile, await bao.createToken());
      await startAfter(product, 'Vault refuses the token; renew it', renew);
      expect(await expectSuccess(product.run('verify'))).toContain('every encrypted value has a configured key');
    },
    LONG,
  );

  it(
    'stops while it waits for Vault',
    async () => {
      let requests = 0;
      const busy = createServer((_, response) => {
        requests += 1;
        response.writeHead(503).end();
      });
      await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
      const address = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`;
      const product = await launch({ CADASTRE_VAULT_ADDRESS: address }, { isNew: true });
      const server = product.spawn('serve');
      await waitUntil(() => requests > 1, 'the product has tried twice');
      server.kill('SIGTERM');
      expect(await server.ended).toMatchObject({ code: 0, signal: null });
      await new Promise((resolve) => busy.close(resolve));
      expect(existsSync(keyFileOf(product))).toBe(false);
      expect(product.isPostgresRunning()).toBe(false);
    },
    LONG,
  );

  it(
    'replaces a worker that ends while Vault is down',
    async () => {
      const product = await startSite({ CADASTRE_WORKERS: '2', LOG_LEVEL: 'info' }, { isNew: true });
      const workersOf = (): readonly number[] =>
        [...product.output().matchAll(/"worker":(\d+),"msg":"worker serves requests"/g)].map(([, pid]) => Number(pid));
      await waitUntil(() => workersOf().length === 2, 'both workers serve requests');
      const [worker = 0] = workersOf();
      const plain = await expectSuccess(product.run('keys', 'unwrap'));
      for (const pid of [product.serverPid(), worker]) {
        expect(await readFile(`/proc/${pid}/environ`, 'utf8')).not.toContain(plain);
      }
      await bao.stop();
      try {
        process.kill(worker, 'SIGKILL');
        await waitUntil(() => workersOf().length === 3, 'another worker serves requests');
      } finally {
        await bao.start();
      }
      expect(product.output()).not.toContain(plain);
      expect(product.output()).not.toContain((await readFile(tokenFile, 'utf8')).trim());
    },
    LONG,
  );
});

describe('a running site with a plain key', () => {
  afterEach(removeProducts);

  it(
    'keeps its data when its key is wrapped, wrapped again and unwrapped',
    async () => {
      const product = await startSite({}, {});
      const plain = await readKeyFile(product);
      expect(await expectSuccess(product.run('doctor').then((ended) => ({ ...ended, code: 0 })))).toMatch(
        /^warning {2}vault: \S+encryption-key: the key is not wrapped; run cadastre keys wrap$/m,
      );

      expect(await expectSuccess(product.run('keys', 'wrap'))).toMatch(/^vault:v1:\S+$/);
      expect(await readKeyFile(product)).toBe(plain);
      await expectSuccess(product.run('keys', 'wrap', '--replace'));
      expect(await readKeyFile(product)).toMatch(/^vault:v1:\S+$/);
      expect(await product.run('keys', 'wrap')).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringContaining('the key is wrapped already; run cadastre keys rewrap'),
      });
      expect(await product.run('doctor').then(({ stdout }) => stdout)).toMatch(
        /^ok {7}vault: transit\/keys\/cadastre of Vault at \S+ unwraps the key$/m,
      );
      await product.stop();
      await product.start();
      await expectSuccess(product.run('verify'));

      await bao.call('POST', 'transit/keys/cadastre/rotate', {});
      await expectSuccess(product.run('keys', 'rewrap', '--replace'));
      expect(await readKeyFile(product)).toMatch(/^vault:v[2-9]:\S+$/);
      await product.stop();
      await product.start();

      await expectSuccess(product.run('keys', 'unwrap', '--replace'));
      expect(await readKeyFile(product)).toBe(plain);
      await product.stop();
      const withoutVault = { CADASTRE_VAULT_ADDRESS: '', CADASTRE_VAULT_CREDENTIAL_FILE: '' };
      await expectSuccess(product.runWith(withoutVault, 'verify'));
    },
    LONG,
  );

  it(
    'has its key, plain or wrapped, after kill -9 of the command that replaces it',
    async () => {
      const product = await launch();
      const plain = await readKeyFile(product);
      const draft = `${keyFileOf(product)}.draft`;
      for (const command of ['wrap', 'unwrap', 'wrap']) {
        const replacing = product.spawn('keys', command, '--replace');
        const watcher = watch(product.dataFolder, (_, name) => {
          if (name === 'encryption-key.draft') replacing.kill('SIGKILL');
        });
        await replacing.ended;
        watcher.close();
        const text = await readKeyFile(product);
        const key = text === plain ? text : await expectSuccess(product.run('keys', 'unwrap'));
        expect(key).toBe(plain);
        const isLeft = existsSync(draft);
        const again = await product.run('keys', text === plain ? 'wrap' : 'unwrap', '--replace');
        expect({ isLeft, isRefused: again.stderr.includes('if none runs, delete that file') }).toEqual({
          isLeft,
          isRefused: isLeft,
        });
        await rm(draft, { force: true });
        // The next round begins with the form that its command replaces.
        const isPlain = (await readKeyFile(product)) === plain;
        if (isPlain !== (command === 'unwrap')) await expectSuccess(product.run('keys', command, '--replace'));
      }
      await expectSuccess(product.run('verify'));
    },
    LONG,
  );
});

describe('wrapped keys in the settings', () => {
  let product: Product;

  beforeAll(async () => {
    product = await startSite({}, { isNew: true });
    await product.stop();
  }, LONG);

  afterAll(removeProducts);

  it(
    'restore a backup with Vault, and not without it',
    async () => {
      const backup = join(folder, 'backup');
      await expectSuccess(product.run('backup', backup));
      const key = await readKeyFile(product);
      const restored = { CADASTRE_DATA: join(folder, 'restored'), CADASTRE_ENCRYPTION_KEY: key };
      const withoutVault = { ...restored, CADASTRE_VAULT_ADDRESS: '', CADASTRE_VAULT_CREDENTIAL_FILE: '' };
      expect(await product.runWith(withoutVault, 'restore', backup)).toMatchObject({
        code: 1,
        stderr: 'CADASTRE_VAULT_ADDRESS: missing; the wrapped key in CADASTRE_ENCRYPTION_KEY needs it\n',
      });
      await expectSuccess(product.runWith(restored, 'restore', backup));
      await expectSuccess(product.runWith(restored, 'verify'));
    },
    LONG,
  );

  it(
    'are refused with one line that names the setting if Vault does not unwrap them',
    async () => {
      const damaged = `vault:v1:${Buffer.alloc(60, 7).toString('base64')}`;
      for (const name of ['serve', 'verify']) {
        expect(await product.runWith({ CADASTRE_ENCRYPTION_KEY: damaged }, name)).toMatchObject({
          code: 1,
          stderr:
            'CADASTRE_ENCRYPTION_KEY: transit/keys/cadastre of Vault does not decrypt it; it was wrapped with another key, ' +
            'or is damaged\n',
        });
      }
      await bao.lock();
      const doctor = await product.run('doctor');
      await bao.unlock();
      expect(doctor.code).toBe(1);
      expect(doctor.stdout).toContain(
        `FAILED   vault: CADASTRE_VAULT_ADDRESS: Vault at ${bao.address} is sealed; unseal it\n`,
      );
      const replaced = await product.runWith({ CADASTRE_ENCRYPTION_KEY: damaged }, 'keys', 'rewrap', '--replace');
      expect(replaced).toMatchObject({ code: 1, stdout: '' });
    },
    LONG,
  );

  it(
    'are rotated like plain keys, and refused if they belong to another site or if both settings contain the same key',
    async () => {
      const old = await readKeyFile(product);
      const renewed = await expectSuccess(product.run('keys', 'create'));
      const rewrapped = await expectSuccess(product.run('keys', 'rewrap'));

      const foreign = await product.runWith({ CADASTRE_ENCRYPTION_KEY: renewed }, 'verify');
      expect(foreign.stderr).toMatch(
        /^CADASTRE_ENCRYPTION_KEY: this key is not the one that the database is encrypted with; /,
      );
      const twice = { CADASTRE_ENCRYPTION_KEY: rewrapped, CADASTRE_ENCRYPTION_KEY_PREVIOUS: old };
      expect(await product.runWith(twice, 'verify')).toMatchObject({
        code: 1,
        stderr:
          'CADASTRE_ENCRYPTION_KEY_PREVIOUS: the same key as CADASTRE_ENCRYPTION_KEY, wrapped again; set the key before it, ' +
          'or remove it\n',
      });

      const both = { CADASTRE_ENCRYPTION_KEY: renewed, CADASTRE_ENCRYPTION_KEY_PREVIOUS: old };
      await expectSuccess(product.runWith(both, 'keys', 'rotate'));
      await expectSuccess(product.runWith({ CADASTRE_ENCRYPTION_KEY: renewed }, 'verify'));
      expect((await product.run('verify')).stderr).toContain('is not the one that the database is encrypted with');
    },
    LONG,
  );
});
