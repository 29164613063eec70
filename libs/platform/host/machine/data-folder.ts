import { rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { readFileOrNull, writeAtomically } from './atomic-file.js';
import { isAlive } from './signals.js';
import { StartupError } from './startup-error.js';

/** Thrown if another process has locked the folder. The message names the process and a remedy. */
export class DataFolderInUseError extends Error {
  constructor(
    readonly folder: string,
    readonly pid: number | null,
  ) {
    super(
      `${folder} is in use by ${pid === null ? 'another process' : `process ${pid}`}: ` +
        'stop it first, or set CADASTRE_DATA to another folder',
    );
    this.name = 'DataFolderInUse';
  }
}

export type DataFolder = {
  readonly path: string;
  /** Unlocks the folder. The kernel does so when the process dies. */
  release(): void;
};

const SQLITE_BUSY = 5;

// Keeps a reference, because the garbage collector would close the database, and so release the lock.
const lockedFiles = new Set<DatabaseSync>();

/**
 * Creates the folder and locks it for this process.
 *
 * The lock must be released the moment its process is killed, and two processes that start must never both get it. A
 * pid file fails the first requirement (process ids are reused), a socket file the second (both processes find it stale
 * and replace it), and a lock file with a heartbeat delays the next start. File locks of the kernel meet both
 * requirements, and Node reaches them through SQLite: an exclusive transaction on an empty database, which writes
 * nothing and never ends.
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
    // Only for the error message of a second process. The lock does not depend on it.
    await writeFile(pidFile, `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    lock.close();
    throw error;
  }
  lockedFiles.add(lock);
  return {
    path: folder,
    release: () => {
      if (!lockedFiles.delete(lock)) return;
      // Deleted before the unlock, because the next process then writes a file of its own. The lock file stays: after its
      // deletion, two processes could lock different files.
      rmSync(pidFile, { force: true });
      lock.close();
    },
  };
};

/** Throws DataFolderInUseError if a process has locked the folder. Creates no file. */
export const demandUnlockedFolder = async (path: string): Promise<void> => {
  if ((await readFileOrNull(join(path, 'lock'))) !== null) (await lockDataFolder(path)).release();
};

const isBusy = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === SQLITE_BUSY;

/**
 * Returns null if the process with the lock has not written its id yet and the file still has the id of a killed
 * process.
 */
const parsePid = (text: string | null): number | null => {
  const pid = Number.parseInt(text ?? '', 10);
  return !Number.isNaN(pid) && isAlive(pid) ? pid : null;
};

/** Returns the secret in the file with this name. Creates it on the first call. */
export const readOrCreateSecret = async (
  folder: string,
  name: string,
  make: () => string | Promise<string>,
): Promise<string> => {
  const file = join(folder, name);
  const content = await readFileOrNull(file);
  if (content !== null) {
    const secret = content.trim();
    // A lost secret is never replaced silently, because everything that was encrypted with it would be lost.
    if (secret === '')
      throw new StartupError(`${file} is empty: restore it from a backup, or delete it to create a new secret`);
    return secret;
  }
  const secret = await make();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeAtomically(file, `${secret}\n`, 0o600);
  return secret;
};
