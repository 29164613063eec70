import { listProcessTree, readProcessFile } from './process-tree.js';

const FIELD = /^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm;

/** Returns the memory of a process without its files, which the kernel can drop. */
const measureProcess = async (pid: number): Promise<number> => {
  const status = await readProcessFile(`/proc/${pid}/status`);
  return [...status.matchAll(FIELD)].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
};

/**
 * Returns the memory in bytes of a process and its descendants. Memory that processes share counts for each of them.
 */
export const measureMemory = async (pid: number): Promise<number> => {
  const sizes = await Promise.all((await listProcessTree(pid)).map(measureProcess));
  return sizes.reduce((total, bytes) => total + bytes, 0);
};
