import type { Dirent } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** An empty file takes an inode and an entry of its folder. So a limit of bytes also limits their number. */
const ENTRY_BYTES = 4096;
const BLOCK_BYTES = 512;

/** Returns the size of an entry on the disk; 0 if it has vanished meanwhile. */
const measureEntry = async (path: string): Promise<number> => {
  try {
    const { blocks } = await lstat(path);
    return Math.max(ENTRY_BYTES, blocks * BLOCK_BYTES);
  } catch {
    return 0;
  }
};

async function* listEntries(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder);
  } catch {
    // It is a file, or the command has removed it meanwhile.
  }
}

/** Returns the bytes on the disk of a file or of a folder with everything in it. Stops beyond `limit`. Follows no link. */
export const measureDisk = async (path: string, limit: number): Promise<number> => {
  let total = await measureEntry(path);
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for await (const entry of listEntries(folder)) {
      const entryPath = join(folder, entry.name);
      total += await measureEntry(entryPath);
      if (total > limit) return total;
      if (entry.isDirectory()) folders.push(entryPath);
    }
  }
  return total;
};
