import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#host';

const logger = { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error };

let folder: string;
let postgres: EmbeddedPostgres;

/** One real Postgres for all test files, from the same package as the product's; each file clones a database of its own. */
export const setup = async (): Promise<void> => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-test-'));
  postgres = await startEmbeddedPostgres({ folder, logger });
  process.env['CADASTRE_TEST_POSTGRES'] = postgres.url;
};

export const teardown = async (): Promise<void> => {
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
};
