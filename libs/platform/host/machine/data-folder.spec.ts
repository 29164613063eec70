import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataFolderInUseError, demandUnlockedFolder, readOrCreateSecret, lockDataFolder } from './data-folder.js';
import { startChild, kill, removeFolder, createTemporaryFolder } from '../spec.js';

describe('the data folder', () => {
  let parent: string;
  let folder: string;
  beforeEach(async () => {
    parent = await createTemporaryFolder();
    // Longer than the path of a socket may be, which must not affect the lock.
    folder = join(parent, 'x'.repeat(120), 'data');
  });
  afterEach(() => removeFolder(parent));

  it('is created with access for its owner only', async () => {
    const dataFolder = await lockDataFolder(folder);
    expect(dataFolder.path).toBe(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    dataFolder.release();
  });

  it('is refused to a second process, with the id of the first', async () => {
    const dataFolder = await lockDataFolder(folder);
    const refusal = lockDataFolder(folder);
    await expect(refusal).rejects.toBeInstanceOf(DataFolderInUseError);
    await expect(refusal).rejects.toThrow(`${folder} is in use by process ${process.pid}: stop it first`);
    dataFolder.release();
    dataFolder.release();
    (await lockDataFolder(folder)).release();
  });

  it('contains no process id after it was unlocked', async () => {
    (await lockDataFolder(folder)).release();
    expect(await readdir(folder)).toEqual(['lock']);
  });

  it('is not created by a check for its lock', async () => {
    await demandUnlockedFolder(folder);
    expect(await readdir(parent)).toEqual([]);
    const dataFolder = await lockDataFolder(folder);
    await expect(demandUnlockedFolder(folder)).rejects.toMatchObject({ pid: process.pid });
    dataFolder.release();
    await demandUnlockedFolder(folder);
  });

  it('is unlocked at once when its process is killed', async () => {
    const { child, firstLine } = await startChild(`
      const { lockDataFolder } = await host('machine/data-folder.js');
      await lockDataFolder(${JSON.stringify(folder)});
      console.log('taken');
      globalThis.gc?.();
      setInterval(() => undefined, 1000);
    `);
    expect(firstLine).toBe('taken');
    await expect(lockDataFolder(folder)).rejects.toMatchObject({ pid: child.pid });
    await kill(child);
    (await lockDataFolder(folder)).release();
  });

  it('is locked by exactly one of several processes that start together after a crash', async () => {
    (await lockDataFolder(folder)).release();
    const attempts = await Promise.allSettled(Array.from({ length: 10 }, () => lockDataFolder(folder)));
    const won = attempts.filter((attempt) => attempt.status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const { value } of won) value.release();
  });
});

describe('readOrCreateSecret', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await createTemporaryFolder();
  });
  afterEach(() => removeFolder(folder));

  it('creates the secret once, with access for its owner only', async () => {
    expect(await readOrCreateSecret(folder, 'key', () => 'first')).toBe('first');
    expect(await readOrCreateSecret(folder, 'key', () => 'second')).toBe('first');
    expect((await stat(join(folder, 'key'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, 'key'), 'utf8')).toBe('first\n');
  });

  it('throws if the file was emptied, and does not replace it', async () => {
    await writeFile(join(folder, 'key'), '');
    await expect(readOrCreateSecret(folder, 'key', () => 'new')).rejects.toThrow('is empty');
  });

  it('ignores a draft that a killed process has left', async () => {
    await writeFile(join(folder, 'key.draft'), 'half of', { mode: 0o644 });
    expect(await readOrCreateSecret(folder, 'key', () => 'whole')).toBe('whole');
    expect((await stat(join(folder, 'key'))).mode & 0o777).toBe(0o600);
  });
});
