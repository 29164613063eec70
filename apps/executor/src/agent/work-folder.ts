import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ExecutorError } from '../executor-error.js';

const SQLITE_BUSY = 5;

// The garbage collector would close the database, and so unlock the folder.
const locks: DatabaseSync[] = [];

/**
 * Creates the folder and locks it until the process ends, because each executor removes what an earlier one has left in its
 * folder. Resolves to its path without links. Node reaches file locks of the kernel only through SQLite: a transaction on an empty database, which never ends.
 */
export const lockWorkFolder = async (folder: string): Promise<string> => {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lock = new DatabaseSync(join(folder, 'lock'), { timeout: 0 });
  try {
    lock.exec('pragma journal_mode = memory; pragma locking_mode = exclusive; begin exclusive');
    locks.push(lock);
    return await realpath(folder);
  } catch (error) {
    lock.close();
    if ((error as { readonly errcode?: unknown }).errcode !== SQLITE_BUSY) throw error;
    throw new ExecutorError(
      'usage',
      `--work: another executor uses ${folder}; name another folder, or raise its --capacity`,
    );
  }
};
