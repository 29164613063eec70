import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './folders.js';

/** The folder of cached servers and programs, which git ignores. Each has a folder in it. */
const CACHE = join(ROOT, '.cache');

const isCached = (name: string): boolean => existsSync(join(CACHE, name));

/**
 * Returns a folder that takes long to make and never changes. It is made under another name and then renamed, because
 * several test workers may find the cache empty at once.
 */
export const cached = async (name: string, make: (folder: string) => Promise<void>): Promise<string> => {
  const folder = join(CACHE, name);
  if (isCached(name)) return folder;
  const building = `${folder}.${process.pid}-${randomBytes(4).toString('hex')}`;
  await mkdir(building, { recursive: true });
  await make(building);
  try {
    await rename(building, folder);
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    if (!isCached(name)) throw error;
  }
  return folder;
};
