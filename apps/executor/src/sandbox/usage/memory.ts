import { readdir, readFile } from 'node:fs/promises';

/** Returns the text of a file of a process; an empty text if the process has ended. */
const readProcessFile = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return '';
  }
};

const listThreads = async (pid: number): Promise<readonly string[]> => {
  try {
    return await readdir(`/proc/${pid}/task`);
  } catch {
    return [];
  }
};

/** The children of a process are those of its threads. */
const listChildren = async (pid: number): Promise<number[]> => {
  const threads = await listThreads(pid);
  const lists = await Promise.all(threads.map((thread) => readProcessFile(`/proc/${pid}/task/${thread}/children`)));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
};

const FIELD = /^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm;

/** Returns the memory of a process without its files, which the kernel can drop. */
const measureProcess = async (pid: number): Promise<number> => {
  const status = await readProcessFile(`/proc/${pid}/status`);
  return [...status.matchAll(FIELD)].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0);
};

/**
 * Returns the memory in bytes of a process and its descendants. Memory that processes share counts for each of them.
 * Daemons count too: they become children of the first process in their namespace.
 */
export const measureMemory = async (pid: number): Promise<number> => {
  const sum = [measureProcess(pid), ...(await listChildren(pid)).map(measureMemory)];
  return (await Promise.all(sum)).reduce((total, bytes) => total + bytes, 0);
};
