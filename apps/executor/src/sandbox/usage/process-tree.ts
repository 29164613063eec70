import { readdir, readFile } from 'node:fs/promises';

/** Returns the text of a file of a process; an empty text if the process has ended. */
export const readProcessFile = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch {
    return '';
  }
};

/** Returns the names in a folder of a process; none if the process has ended. */
export const listProcessFolder = async (path: string): Promise<readonly string[]> => {
  try {
    return await readdir(path);
  } catch {
    return [];
  }
};

/** The children of a process are those of its threads. */
const listChildren = async (pid: number): Promise<number[]> => {
  const threads = await listProcessFolder(`/proc/${pid}/task`);
  const lists = await Promise.all(threads.map((thread) => readProcessFile(`/proc/${pid}/task/${thread}/children`)));
  return lists.flatMap((list) => list.split(' ').filter(Boolean).map(Number));
};

/**
 * Returns a process and its descendants. Daemons belong to them too: they become children of the first process in their
 * namespace.
 */
export const listProcessTree = async (pid: number): Promise<readonly number[]> => {
  const children = await listChildren(pid);
  return [pid, ...(await Promise.all(children.map(listProcessTree))).flat()];
};
