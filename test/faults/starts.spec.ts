import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { launchProduct, type Product } from '../support/product.js';
import { makeOrganization, makeWorkspace } from '../support/seeds.js';
import { createApiTestClient, type ApiTestClient } from '../support/server.js';
import { expectNothingLost, startBackgroundLoad } from './background-load.js';

const LONG = 120_000;

let product: Product;
let api: ApiTestClient;

beforeEach(async () => {
  product = await launchProduct();
  await product.start();
  api = createApiTestClient(product.url, product.adminToken);
});

afterEach(() => product?.remove());

describe('a second start on the same data folder', () => {
  it(
    'says who holds it and ends with 1; the first goes on',
    async () => {
      await makeOrganization(api, 'acme');
      const second = await product.run('serve');
      expect(second).toMatchObject({ code: 1, signal: null, stdout: '' });
      // One line, with what can be done, and no stack.
      expect(second.stderr).toMatch(
        /^\S+ is in use by process \d+: stop it first, or set CADASTRE_DATA to another folder\n$/,
      );
      expect((await api.get('/api/v2/organizations/acme')).status).toBe(200);
      await makeWorkspace(api, 'acme', 'afterwards');
    },
    LONG,
  );
});

describe('a process by itself', () => {
  it(
    'starts as gateway, projector or publisher beside the others, is ready, and ends with 0',
    async () => {
      const settings = {
        DATABASE_URL: await product.databaseUrl(),
        CADASTRE_ENCRYPTION_KEY: (await readFile(join(product.dataFolder, 'encryption-key'), 'utf8')).trim(),
        // Nobody listens there: that holds up what is published, and no start.
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
    'ends it with 0 and leaves no Postgres behind; a second start goes on where it was',
    async () => {
      await makeOrganization(api, 'acme');
      const id = await makeWorkspace(api, 'acme', 'one');
      expect((await api.post(`/api/v2/workspaces/${id}/actions/lock`)).status).toBe(200);
      const shown = await api.get(`/api/v2/workspaces/${id}`);
      expect(product.isPostgresRunning()).toBe(true);
      expect(await product.stop()).toMatchObject({ code: 0, signal: null });
      expect(product.isPostgresRunning()).toBe(false);

      await product.start();
      const again = await api.get(`/api/v2/workspaces/${id}`);
      expect(again.body).toEqual(shown.body);
      expect((await api.post(`/api/v2/workspaces/${id}/actions/unlock`)).status).toBe(200);
    },
    LONG,
  );

  it(
    'in the middle of work, three times, breaks no promise',
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
        // Nothing else is said: no error of what was cut off.
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
    'during the start ends it with 0 too, and the next start finds everything in order',
    async () => {
      await makeOrganization(api, 'acme');
      await product.stop();
      expect(await product.endDuringStart('SIGTERM')).toMatchObject({ code: 0, signal: null });
      expect(product.isPostgresRunning()).toBe(false);
      await product.start();
      expect((await api.get('/api/v2/organizations/acme')).status).toBe(200);
    },
    LONG,
  );
});
