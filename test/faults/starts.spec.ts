import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startKafka } from '../support/kafka/index.js';
import { waitForTopics } from '../support/kafka/topic-reader.js';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { makeOrganization, makeWorkspace } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';
import { expectNothingLost, startBackgroundLoad } from './background-load.js';

const LONG = 120_000;

let product: Product;
let api: ApiTestClient;

beforeAll(async () => {
  // The first start of a site: the other specs copy a prepared one. It takes 3 s of CPU longer, so the tests share the site.
  product = await launchProduct({}, { isNew: true });
  await product.start();
  api = createApiTestClient(product.url, product.adminToken);
  await makeOrganization(api, 'globex');
});

afterAll(() => product?.remove());

describe('a second start on the same data folder', () => {
  it(
    'fails with the process id of the first server, which keeps running',
    async () => {
      const second = await product.run('serve');
      expect(second).toMatchObject({ code: 1, signal: null, stdout: '' });
      // One line that says what to do, and no stack trace.
      expect(second.stderr).toMatch(
        /^\S+ is in use by process \d+: stop it first, or set CADASTRE_DATA to another folder\n$/,
      );
      expect((await api.get('/api/v2/organizations/globex')).status).toBe(200);
      await makeWorkspace(api, 'globex', 'afterwards');
    },
    LONG,
  );
});

describe('the greeting of a start', () => {
  it('says where the sign-in link is if a setting contains the token', async () => {
    await waitUntil(() => product.output().includes('  Kafka: '), 'the greeting was printed');
    const linkFile = join(product.dataFolder, 'sign-in-link');
    expect(product.output()).toContain("Administrator's token: as set in CADASTRE_ADMIN_TOKEN");
    expect(product.output()).toContain(`Sign in with a browser, once, in the next 15 minutes: in ${linkFile}`);
    expect(await readFile(linkFile, 'utf8')).toMatch(/^https?:.*\/sign-in\/link\?secret=/);
  });

  it(
    'says where the token and the sign-in link are without showing them, and names no first steps later',
    async () => {
      const site = await launchProduct({ CADASTRE_ADMIN_TOKEN: '' }, { isNew: true });
      const tokenFile = join(site.dataFolder, 'admin-token');
      const linkFile = join(site.dataFolder, 'sign-in-link');
      const isGreeted = (): boolean => site.output().includes('  Kafka: ');
      try {
        await site.start();
        await waitUntil(isGreeted, 'the greeting was printed');
        const token = (await readFile(tokenFile, 'utf8')).trim();
        const link = (await readFile(linkFile, 'utf8')).trim();
        expect((await stat(linkFile)).mode & 0o777).toBe(0o600);
        expect(link).toMatch(/^https?:.*\/sign-in\/link\?secret=/);
        expect(site.output()).toMatch(/Administrator's token: in \S*admin-token\n/);
        expect(site.output()).toContain(`in ${linkFile}`);
        expect(site.output()).toContain('Create an organization');
        expect(site.output()).not.toContain(token);
        expect(site.output()).not.toContain(link);

        await makeOrganization(createApiTestClient(site.url, token), 'acme');
        await site.stop();
        // A restored site has an administrator, but not this file.
        await rm(tokenFile);
        await site.start();
        await waitUntil(isGreeted, 'the greeting was printed');
        expect(site.output()).toContain(
          "Administrator's token: not in this data folder; npm run -s cadastre -- token create",
        );
        expect(site.output()).not.toContain('Create an organization');
      } finally {
        await site.remove();
      }
    },
    LONG,
  );
});

describe('a single process', () => {
  it(
    'starts as gateway, projector or publisher beside the others, becomes ready, and exits with 0',
    async () => {
      const settings = {
        DATABASE_URL: await product.databaseUrl(),
        CADASTRE_ENCRYPTION_KEY: (await readFile(join(product.dataFolder, 'encryption-key'), 'utf8')).trim(),
        // No broker listens there. This delays publication but must not prevent the start.
        KAFKA_BROKERS: '127.0.0.1:1',
      };
      for (const name of ['gateway', 'projector', 'publisher'] as const) {
        const part = await launchProduct(settings);
        try {
          await part.start(name);
          expect({ name, ...(await part.stop()) }).toMatchObject({ name, code: 0, signal: null });
        } finally {
          await part.remove();
        }
      }
    },
    LONG,
  );
});

describe('SIGTERM', () => {
  it(
    'makes the product exit with 0 and stop its Postgres, and the next start finds the same data',
    async () => {
      const id = await makeWorkspace(api, 'globex', 'one');
      expect((await api.post(`/api/v2/workspaces/${id}/actions/lock`)).status).toBe(200);
      const before = await api.get(`/api/v2/workspaces/${id}`);
      expect(product.isPostgresRunning()).toBe(true);
      expect(await product.stop()).toMatchObject({ code: 0, signal: null });
      expect(product.isPostgresRunning()).toBe(false);

      await product.start();
      const after = await api.get(`/api/v2/workspaces/${id}`);
      expect(after.body).toEqual(before.body);
      expect((await api.post(`/api/v2/workspaces/${id}/actions/unlock`)).status).toBe(200);
    },
    LONG,
  );

  it(
    'three times during work loses nothing',
    async () => {
      let gate = Promise.withResolvers<void>();
      gate.resolve();
      const work = await startBackgroundLoad(
        product,
        () => product.databaseUrl(),
        () => gate.promise,
      );
      for (let round = 1; round <= 3; round += 1) {
        await work.clients.acknowledged(40);
        gate = Promise.withResolvers<void>();
        // The product prints no errors about interrupted work.
        expect(await product.stop()).toMatchObject({ code: 0, signal: null, stderr: 'Stopping …\n' });
        await product.start();
        gate.resolve();
      }
      await work.clients.acknowledged(10);
      await work.clients.stop();
      await expectNothingLost(work);
    },
    LONG,
  );

  it(
    'during the start makes the product exit with 0, and the next start succeeds',
    async () => {
      await product.stop();
      expect(await product.endDuringStart('SIGTERM')).toMatchObject({ code: 0, signal: null });
      expect(product.isPostgresRunning()).toBe(false);
      await product.start();
      expect((await api.get('/api/v2/organizations/globex')).status).toBe(200);
    },
    LONG,
  );
});

describe('a first contact with a new broker', () => {
  it(
    'is logged without stack traces',
    async () => {
      const kafka = await startKafka();
      const site = await launchProduct({ KAFKA_BROKERS: kafka.brokers.join(','), LOG_LEVEL: 'info' });
      try {
        await site.start();
        await makeOrganization(createApiTestClient(site.url, site.adminToken), 'acme');
        await waitForTopics(kafka.brokers, ['cadastre.organizations', 'cadastre.organizations.state']);
        const { stdout } = await site.stop();
        expect(stdout).not.toContain('"stack"');
      } finally {
        await site.remove();
        await kafka.stop();
      }
    },
    LONG,
  );
});
