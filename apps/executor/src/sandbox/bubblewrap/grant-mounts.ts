import { createHash } from 'node:crypto';
import { lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SandboxMount } from '../sandbox.js';

/** Ids that no distribution and no container assigns. */
const FIRST_USER = 1_000_000_000;
const USERS = 1_000_000_000;

/** Returns the user for commands of a run if the executor is root. All commands with the same work folder have the same. */
export const chooseUser = (mounts: readonly SandboxMount[]): number => {
  const folders = mounts.filter(({ writable }) => writable).map(({ source }) => source);
  return FIRST_USER + (createHash('sha256').update(folders.join('\0')).digest().readUInt32BE() % USERS);
};

const OTHERS_MAY_READ = 0o004;

const grant = async (path: string, user: number, writable: boolean): Promise<void> => {
  const stats = await lstat(path);
  if (stats.uid !== user && (writable || (stats.mode & OTHERS_MAY_READ) === 0)) await lchown(path, user, user);
  if (!stats.isDirectory()) return;
  for (const name of await readdir(path)) await grant(join(path, name), user, writable);
};

/** Lets a user change writable mounts, and read the files of the others. Follows no link. Needs root. */
export const grantMounts = async (mounts: readonly SandboxMount[], user: number): Promise<void> => {
  for (const { source, writable } of mounts) await grant(source, user, writable);
};
