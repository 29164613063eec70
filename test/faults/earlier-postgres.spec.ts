import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { launchProduct, type Product } from '../support/product.js';
import { scaleLimit } from '../support/rounds.js';
import { startPackagedPostgres } from '../support/servers/system.js';
import { expectNothingLost, startBackgroundLoad } from './background-load.js';

let postgres: Awaited<ReturnType<typeof startPackagedPostgres>>;
let product: Product;

beforeAll(async () => {
  postgres = await startPackagedPostgres();
  product = await launchProduct({
    DATABASE_URL: postgres.url,
    CADASTRE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  });
  await product.start();
});

afterAll(async () => {
  await product?.remove();
  await postgres?.stop();
});

describe('the Postgres of the system’s packages, an earlier major than that of the product', () => {
  it(
    'gets all migrations, and loses no acknowledged write if the product is killed',
    async () => {
      const { stdout } = await product.run('doctor');
      expect(stdout).toMatch(/database: Postgres 1[4-8] answers/);
      const work = await startBackgroundLoad(product, () => Promise.resolve(postgres.url));
      await work.clients.acknowledged(40);
      await product.kill();
      await product.start();
      await work.clients.acknowledged(40);
      await work.clients.stop();
      await expectNothingLost(work);
    },
    scaleLimit(180_000),
  );
});
