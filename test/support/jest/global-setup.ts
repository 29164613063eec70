import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, rm, statfs, symlink } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Config } from 'jest';

const ROOT = join(import.meta.dirname, '../../..');

type SetupOptions = Required<Pick<Config, 'maxWorkers'>> & { readonly testNamePattern?: string | undefined };

const MEMORY = '/dev/shm';
const DATA_BYTES = 4 * 2 ** 30;
/** Of the workers and the servers. */
const PROCESS_BYTES = 4 * 2 ** 30;

let folder: string | null = null;
let data: string | null = null;
let servers: { stop(): Promise<void> } | null = null;

/**
 * Compiles the sources and the tests into a folder of this run, and starts a Postgres for each worker. Workers inherit
 * the environment of this process.
 */
export default async ({ maxWorkers, testNamePattern }: SetupOptions): Promise<void> => {
  // Jest runs no teardown after a signal.
  let ending: Promise<void> | null = null;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void (ending ??= teardown()).finally(() => process.exit(1)));
  try {
    await setUp(Number(maxWorkers));
  } catch (error) {
    await teardown();
    throw error;
  }
  process.env['CADASTRE_TEST_NAME_PATTERN'] = testNamePattern ?? '';
};

export const teardown = async (): Promise<void> => {
  await servers?.stop();
  for (const each of [folder, data]) if (each) await rm(each, { recursive: true, force: true });
};

/**
 * Returns the folder for the data of servers. Each database has 1,400 files, and ext4 takes up to half a second of CPU to
 * make so many after others were deleted.
 */
const findDataParent = async (): Promise<string> => {
  try {
    const { bavail, bsize } = await statfs(MEMORY);
    const hasRoom = bavail * bsize >= DATA_BYTES && freemem() >= DATA_BYTES + PROCESS_BYTES;
    return hasRoom ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
};

const setUp = async (workers: number): Promise<void> => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-test-'));
  data = await mkdtemp(join(await findDataParent(), 'cadastre-test-data-'));
  process.env['CADASTRE_TEST_DATA'] = data;
  const build = join(folder, 'build');
  await compile(build);
  const compiled = pathToFileURL(join(build, 'dist/test/support/servers/index.js')).href;
  const { startPostgresServers } = (await import(compiled)) as typeof import('../servers/index.js');
  const started = await startPostgresServers(workers, data);
  servers = started;
  for (const [n, url] of started.urls.entries()) process.env[`CADASTRE_TEST_POSTGRES_${n + 1}`] = url;
  process.env['CADASTRE_TEST_ROOT'] = ROOT;
  process.env['CADASTRE_TEST_BUILD'] = build;
  // Tests start the product about 200 times. Compiled code of its packages saves a fifth of each start.
  process.env['CADASTRE_TEST_COMPILE_CACHE'] = join(folder, 'compile-cache');
};

/**
 * Compiles as `npm run build` does, with the specs. The folder looks like an installed product: packages, settings,
 * `dist`.
 */
const compile = async (build: string): Promise<void> => {
  const swc = join(ROOT, 'node_modules/@swc/cli/bin/swc.js');
  const args = [swc, 'apps', 'libs', 'test', '-d', join(build, 'dist'), '--copy-files', '--quiet'];
  const options = ['--config-file', '.swcrc', '--ignore', '**/*.build.ts,apps/console/**'];
  const docs = ['libs/api/api-docs/publish-files.build.ts', join(build, 'dist/api-docs')];
  const webConsole = ['apps/console/console.build.ts', join(build, 'dist/console')];
  const run = (program: readonly string[]) => promisify(execFile)(process.execPath, [...program], { cwd: ROOT });
  const bundle = ['apps/cadastre/bundle.build.ts', join(build, 'dist')];
  await Promise.all([run([...args, ...options]).then(() => run(bundle)), run(docs), run(webConsole)]);
  await copyFile(join(ROOT, 'package.json'), join(build, 'package.json'));
  await symlink(join(ROOT, 'node_modules'), join(build, 'node_modules'));
};
