import { stat } from 'node:fs/promises';
import { BLOCK_BYTES } from './disk.js';
import { listProcessFolder, listProcessTree, readProcessFile } from './process-tree.js';

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

/** A mapped file without a name: first and last address, offset, device, inode. */
const DELETED_MAPPING = /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) ([0-9a-f]+):([0-9a-f]+) (\d+) .*\(deleted\)$/gm;

/** Returns a device as `stat` does. */
const toDevice = (major: number, minor: number): number => (major << 8) | (minor & 0xff) | ((minor & ~0xff) << 12);

/**
 * Returns the files without names in a text of `/proc/PID/maps`. A mapping does not need an open file. Only the kernel knows the size of
 * the file, so each counts up to the last byte that is mapped.
 */
const findDeletedMappings = (maps: string, devices: ReadonlySet<number>): readonly OpenFile[] =>
  [...maps.matchAll(DELETED_MAPPING)].flatMap(
    ([, first = '', last = '', offset = '', major = '', minor = '', inode]) => {
      const device = toDevice(Number.parseInt(major, 16), Number.parseInt(minor, 16));
      if (!devices.has(device)) return [];
      const [from, to, skipped] = [first, last, offset].map((text) => Number.parseInt(text, 16));
      return [{ id: `${device}-${inode}`, bytes: (skipped ?? 0) + (to ?? 0) - (from ?? 0) }];
    },
  );

/**
 * Returns the bytes on the disk of files that a process and its descendants have deleted, and still have open or mapped. No folder
 * contains them. `devices` are the file systems of the folders that the processes can write.
 */
export const measureDeletedFiles = async (pid: number, devices: ReadonlySet<number>): Promise<number> => {
  const sizes = new Map<string, number>();
  const add = ({ id, bytes }: OpenFile): void => void sizes.set(id, Math.max(bytes, sizes.get(id) ?? 0));
  for (const process of await listProcessTree(pid)) {
    for (const descriptor of await listProcessFolder(`/proc/${process}/fd`)) {
      const file = await findDeletedFile(`/proc/${process}/fd/${descriptor}`, devices);
      if (file) add(file);
    }
    findDeletedMappings(await readProcessFile(`/proc/${process}/maps`), devices).forEach(add);
  }
  return [...sizes.values()].reduce((total, bytes) => total + bytes, 0);
};
