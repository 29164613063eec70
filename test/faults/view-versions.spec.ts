import pg from 'pg';
import { afterEach, describe, expect, it } from '@jest/globals';
import { launchProduct, waitUntil, type Product } from '../support/product.js';
import { expectNothingLost, startBackgroundLoad } from './background-load.js';

const LONG = 240_000;
/** A rebuild of all views takes half a minute beside other tests. */
const PAUSE_MS = 200;

let product: Product;
afterEach(() => product?.remove());

const query = async (text: string): Promise<Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: await product.databaseUrl() });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
};

const countEarlierViews = async (): Promise<unknown> =>
  (await query('select count(*)::integer as count from event_store.view_versions where version < 1'))[0]?.['count'];

describe('a start on views of an earlier version', () => {
  it(
    'rebuilds all of them while clients write and read, also after kill -9',
    async () => {
      product = await launchProduct({ LOG_LEVEL: 'info' });
      await product.start();
      let gate = Promise.withResolvers<void>();
      gate.resolve();
      const work = await startBackgroundLoad(
        product,
        () => product.databaseUrl(),
        () => gate.promise,
        PAUSE_MS,
      );
      await work.clients.acknowledged(100);
      await query('update event_store.view_versions set version = 0');
      gate = Promise.withResolvers<void>();
      await product.kill();
      await product.start();
      gate.resolve();
      await waitUntil(() => product.output().includes('rebuild of the view begins'), 'a rebuild has begun');
      gate = Promise.withResolvers<void>();
      await product.kill();

      await product.start();
      gate.resolve();
      expect(product.output()).toContain('the view is of an earlier version; the projector rebuilds it');
      const failures = work.clients.countFailures();
      await work.clients.acknowledged(20);
      await waitUntil(async () => (await countEarlierViews()) === 0, 'all views are rebuilt');
      expect(product.output()).toContain('rebuild of the view is done');
      await work.clients.acknowledged(20);
      await work.clients.stop();
      expect(work.clients.countFailures()).toBe(failures);
      await expectNothingLost(work);
    },
    LONG,
  );

  it('is reported by doctor and verify until a process rebuilds it', async () => {
    product = await launchProduct({ LOG_LEVEL: 'info' });
    await product.start('gateway');
    const [row] = await query(`select version from event_store.view_versions where view = 'projects'`);
    const version = String(row?.['version']);
    await query(`update event_store.view_versions set version = 0 where view = 'projects'`);
    const doctor = await product.run('doctor');
    expect(doctor.stdout).toMatch(
      new RegExp(
        `^warning +view projects: version 0 of ${version}; serve or projector rebuilds it while it runs$`,
        'm',
      ),
    );
    const verify = await product.run('verify');
    expect(verify.code).toBe(1);
    const notCompared = `projects: not compared; version 0 until the projector has rebuilt it as ${version}`;
    expect(verify.stdout.split('\n')).toContain(notCompared);
    expect(await product.run('rebuild', 'projects')).toMatchObject({ code: 0 });
    expect(await product.run('verify')).toMatchObject({ code: 0 });
  });
});
