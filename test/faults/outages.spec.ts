import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#host';
import { contentOf, makeProduct, until, type Product } from '../support/product.js';
import { quiet } from '../support/quiet.js';
import { expectNothingLost, startWork } from './work.js';

const LONG = 180_000;

let folder: string;
let postgres: EmbeddedPostgres;
let product: Product;

beforeEach(async () => {
  // As a Postgres of the operator's, elsewhere: cadastre knows its address and nothing else of it.
  folder = await mkdtemp(join(tmpdir(), 'cadastre-postgres-'));
  postgres = await startEmbeddedPostgres({ folder, logger: quiet });
  product = await makeProduct({
    DATABASE_URL: postgres.url,
    CADASTRE_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  });
  await product.start();
});

afterEach(async () => {
  await product?.remove();
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The process that all others of Postgres belong to; null while there is none. */
const postmaster = (): number | null => {
  const pid = Number.parseInt(contentOf(join(folder, 'cluster/postmaster.pid')), 10);
  return Number.isNaN(pid) ? null : pid;
};

const killPostgres = async (): Promise<void> => {
  const killed = postmaster();
  expect(killed).not.toBeNull();
  process.kill(killed ?? 0, 'SIGKILL');
  await until(() => ![killed, null].includes(postmaster()), 'another Postgres has been started');
};

describe('a Postgres that is killed', () => {
  it(
    'five times: clients are told to wait, nothing acknowledged is lost, and nobody restarts anything',
    async () => {
      const work = await startWork(product, () => Promise.resolve(postgres.url));
      for (let kill = 1; kill <= 5; kill += 1) {
        await work.clients.acknowledged(40);
        await killPostgres();
      }
      await work.clients.acknowledged(40);
      await work.clients.stop();
      // While it was away they were told so, in an answer that they understand; nothing worse was said.
      expect(work.clients.statuses.get(503)).toBeGreaterThan(0);
      await expectNothingLost(work);
    },
    LONG,
  );

  it('is missed in readiness and requests, each with an error that says to come again', async () => {
    // Stopped, not killed: it stays away until this test wants it back.
    await postgres.stop();
    for (const path of ['/readyz', '/api/v2/organizations', '/api/v2/account/details']) {
      const response = await fetch(`${product.url}${path}`, {
        headers: { authorization: `Bearer ${product.adminToken}` },
      });
      expect({ path, status: response.status, retryAfter: response.headers.get('retry-after') }).toEqual({
        path,
        status: 503,
        retryAfter: '1',
      });
      expect(await response.json()).toEqual({
        errors: [{ status: '503', title: 'unavailable', detail: expect.stringMatching(/database is not available/) }],
      });
    }
    // The process itself is well: an orchestrator that restarted it would mend nothing.
    expect((await fetch(`${product.url}/healthz`)).status).toBe(200);
    // It may come back under another address here; afterEach only wants something to stop.
    postgres = await startEmbeddedPostgres({ folder, logger: quiet });
  });
});
