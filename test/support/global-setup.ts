import { copyFile, cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#host';

const logger = { debug: () => undefined, info: () => undefined, warn: console.warn, error: console.error };

const ROOT = join(import.meta.dirname, '../..');

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
  process.env['CADASTRE_TEST_BUILD'] = await copyBuild(join(folder, 'build'));
  // The product is started some 200 times. Compiled code of its packages saves a fifth of each start.
  process.env['CADASTRE_TEST_COMPILE_CACHE'] = join(folder, 'compile-cache');
  await Promise.all(servers.map(({ url }) => skipSyncs(url)));
  for (const [n, { url }] of servers.entries()) process.env[`CADASTRE_TEST_POSTGRES_${n + 1}`] = url;
};

/**
 * The data of these servers is not needed after the tests. 300 HTTP tests sync 4,300 times, which takes most of their time on a
 * slow disk. The specs of crashes run the product, whose Postgres syncs as usual.
 */
const skipSyncs = async (connectionString: string): Promise<void> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query('alter system set fsync = off');
  await client.query('select pg_reload_conf()');
  await client.end();
};

/** Tests start a copy, because another `npm run build` replaces the build while they run. */
const copyBuild = async (target: string): Promise<string> => {
  await cp(join(ROOT, 'dist'), join(target, 'dist'), { recursive: true });
  await copyFile(join(ROOT, 'package.json'), join(target, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(target, 'node_modules'));
  return target;
};

export const teardown = async (): Promise<void> => {
  await Promise.all(servers.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
};
