import type { Dirent } from 'node:fs';
import { access, constants, lstat, opendir } from 'node:fs/promises';
import { getErrorCode } from '#platform/kernel';

/** An empty file takes an inode and an entry of its folder. So a limit of bytes also limits their number. */
const ENTRY_BYTES = 4096;
export const BLOCK_BYTES = 512;
const SEPARATOR = Buffer.from('/');

/** The command has removed the entry meanwhile, or the entry is no folder. */
const ABSENT: ReadonlySet<string | null> = new Set(['ENOENT', 'ENOTDIR']);

/**
 * Returns the size of an entry on the disk; 0 if it does not exist. What cannot be measured is too large: a command could hide files
 * in folders that it has closed to the executor, or whose paths are longer than the system accepts.
 */
const measureEntry = async (path: Buffer): Promise<number> => {
  try {
    const stats = await lstat(path);
    if (stats.isDirectory()) await access(path, constants.R_OK | constants.X_OK);
    return Math.max(ENTRY_BYTES, stats.blocks * BLOCK_BYTES);
  } catch (error) {
    return ABSENT.has(getErrorCode(error)) ? 0 : Number.POSITIVE_INFINITY;
  }
};

async function* listEntries(folder: Buffer): AsyncGenerator<Dirent> {
  try {
    // In other encodings, names that are no UTF-8 would lead to no file.
    yield* await opendir(folder, { encoding: 'latin1' });
  } catch {
    // It is a file, or the command has removed or closed it since it was measured.
  }
}

/** Returns the bytes on the disk of a file or of a folder with everything in it. Stops beyond `limit`. Follows no link. */
export const measureDisk = async (path: string, limit: number): Promise<number> => {
  const root = Buffer.from(path);
  let total = await measureEntry(root);
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of listEntries(folder)) {
      const entryPath = Buffer.concat([folder, SEPARATOR, Buffer.from(entry.name, 'latin1')]);
      total += await measureEntry(entryPath);
      if (total > limit) return total;
      if (entry.isDirectory()) folders.push(entryPath);
    }
  }
  return total;
};
