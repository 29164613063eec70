import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readFileOrNull, writeAtomically } from './atomic-file.js';
import { isAlive } from './signals.js';
import { StartupError } from './startup-error.js';

/** Another process holds the folder. The message says which one and what can be done. */
export class DataFolderInUseError extends Error {
  constructor(
    readonly folder: string,
    readonly pid: number | null,
  ) {
    super(
      `${folder} is in use by ${pid === null ? 'another process' : `process ${pid}`}: ` +
        'stop that one first, or give this one a folder of its own with CADASTRE_DATA',
    );
    this.name = 'DataFolderInUse';
  }
}

export type DataFolder = {
  readonly path: string;
  /** The kernel does the same when the process dies. */
  release(): void;
};

const SQLITE_BUSY = 5;

// Referenced from here, or the garbage collector closes the database, and so the lock, of a caller who lets go of it.
const lockedFiles = new Set<DatabaseSync>();

/**
 * Creates the folder and holds it for this process alone.
 *
 * The lock must be gone the moment its holder is killed, and two starters must never both get it. A pid file fails the
 * first (pids are used again), a socket file the second (both find it stale, both replace it), a lock file with a
 * heartbeat makes the next start wait. The kernel's own file locks do both, and SQLite is how Node reaches them: an
 * exclusive transaction on an empty database, never written to and never ended.
 */
export const lockDataFolder = async (path: string): Promise<DataFolder> => {
  const folder = resolve(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(join(folder, 'lock'), { timeout: 0 });
  const pidFile = join(folder, 'pid');
  try {
    lock.exec('pragma journal_mode = memory; pragma locking_mode = exclusive; begin exclusive');
  } catch (error) {
    lock.close();
    if (!isBusy(error)) throw error;
    throw new DataFolderInUseError(folder, parsePid(await readFileOrNull(pidFile)));
  }
  try {
    // Only to name the holder to whoever comes second: the lock is what counts.
    await writeFile(pidFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    lock.close();
    throw error;
  }
  lockedFiles.add(lock);
  return {
    path: folder,
    release: () => {
      if (lockedFiles.delete(lock)) lock.close();
    },
  };
};

const isBusy = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === SQLITE_BUSY;

/** Null when the holder has not written it yet, and what is there is its killed predecessor's. */
const parsePid = (text: string | null): number | null => {
  const pid = Number.parseInt(text ?? '', 10);
  return !Number.isNaN(pid) && isAlive(pid) ? pid : null;
};

/** The secret kept in the folder under this name; made on the first call, the same ever after. */
export const readOrCreateSecret = async (
  folder: string,
  name: string,
  make: () => string | Promise<string>,
): Promise<string> => {
  const file = join(folder, name);
  const kept = await readFileOrNull(file);
  if (kept !== null) {
    const secret = kept.trim();
    // Never replaced by a new one: what was encrypted with the lost one would be lost with it, silently.
    if (secret === '')
      throw new StartupError(`${file} is empty: restore it from a backup, or remove it to have a new one made`);
    return secret;
  }
  const secret = await make();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeAtomically(file, `${secret}\n`, 0o600);
  return secret;
};
