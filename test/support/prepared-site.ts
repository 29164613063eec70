import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BUILD, DATA } from './folders.js';
import { getErrorCode } from '#platform/kernel';

const run = promisify(execFile);

const PREPARED = join(DATA, 'prepared-site');

/** Another worker has prepared the site first. */
const TAKEN_CODES = ['EEXIST', 'ENOTEMPTY'];

const prepare = async (): Promise<void> => {
  const folder = await mkdtemp(`${PREPARED}-`);
  const env = {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: process.env['CADASTRE_TEST_COMPILE_CACHE'] ?? '',
    CADASTRE_DATA: folder,
    LOG_LEVEL: 'warn',
  };
  await run(process.execPath, [join(BUILD, 'dist/apps/cadastre/src/main.js'), 'migrate'], { env });
  await rename(folder, PREPARED).catch(async (error: unknown) => {
    if (!TAKEN_CODES.includes(getErrorCode(error) ?? '')) throw error;
    await rm(folder, { recursive: true });
  });
};

let prepared: Promise<void> | null = null;

/**
 * Fills an empty data folder with a site of the product: an embedded Postgres with all migrations, an encryption key,
 * and no user. The first start of a product takes 3 s of CPU longer than the copy.
 */
export const copyPreparedSite = async (dataFolder: string): Promise<void> => {
  prepared ??= prepare();
  await prepared;
  // Keeps the owner: Postgres runs as another user than root.
  await run('cp', ['-a', `${PREPARED}/.`, dataFolder]);
};

/**
 * Fills an empty folder like `copyPreparedSite`, for tests that run the Postgres in its folder `postgres` themselves. Returns the
 * encryption key of the database.
 */
export const copyPreparedPostgres = async (folder: string): Promise<string> => {
  await copyPreparedSite(folder);
  return (await readFile(join(folder, 'encryption-key'), 'utf8')).trim();
};
