import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#host';

const logger = { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error };

let folder: string;
let servers: readonly EmbeddedPostgres[];

/**
 * A real Postgres for each worker, from the same package as the product's; each file clones a database of its own there.
 * One for all would let files meet: followers wait for every transaction of their server, those of other databases too.
 */
export const setup = async ({ config }: TestProject): Promise<void> => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-test-'));
  const workers = Array.from({ length: config.maxWorkers }, (_, n) => n + 1);
  servers = await Promise.all(
    workers.map((worker) => startEmbeddedPostgres({ folder: join(folder, `worker-${worker}`), logger })),
  );
  for (const [n, { url }] of servers.entries()) process.env[`CADASTRE_TEST_POSTGRES_${n + 1}`] = url;
};

export const teardown = async (): Promise<void> => {
  await Promise.all(servers.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
};
