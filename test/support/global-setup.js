// One real Postgres for all test files, from the same package as the product's; each file clones a database of its own.
// Uses the build (npm test makes it): Jest runs this file before its transforms.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../dist/libs/host/index.js';

const quiet = { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error };

export default async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cadastre-test-'));
  const postgres = await startEmbeddedPostgres({ folder, log: quiet });
  process.env.CADASTRE_TEST_POSTGRES = postgres.url;
  globalThis.cadastreTest = { postgres, folder };
};
