import { stat } from 'node:fs/promises';
import { BLOCK_BYTES } from './disk.js';
import { listProcessFolder, listProcessTree } from './process-tree.js';

type OpenFile = { readonly id: string; readonly bytes: number };

/** Returns an open file that has no name any longer, and null for other files. */
const findDeletedFile = async (path: string, devices: ReadonlySet<number>): Promise<OpenFile | null> => {
  try {
    const { dev, ino, nlink, blocks } = await stat(path);
    return nlink === 0 && devices.has(dev) ? { id: `${dev}-${ino}`, bytes: blocks * BLOCK_BYTES } : null;
  } catch {
    return null;
  }
};

/**
 * Returns the bytes on the disk of files that a process and its descendants have deleted and still have open. No folder contains
 * them. `devices` are the file systems of the folders that the processes can write.
 */
export const measureDeletedFiles = async (pid: number, devices: ReadonlySet<number>): Promise<number> => {
  const sizes = new Map<string, number>();
  for (const process of await listProcessTree(pid)) {
    for (const descriptor of await listProcessFolder(`/proc/${process}/fd`)) {
      const file = await findDeletedFile(`/proc/${process}/fd/${descriptor}`, devices);
      if (file) sizes.set(file.id, file.bytes);
    }
  }
  return [...sizes.values()].reduce((total, bytes) => total + bytes, 0);
};
