import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataFolderInUseError, readOrCreateSecret, lockDataFolder } from './data-folder.js';
import { startChild, kill, removeFolder, createTemporaryFolder } from '../spec.js';

describe('the data folder', () => {
  let parent: string;
  let folder: string;
  beforeEach(async () => {
    parent = await createTemporaryFolder();
    // Longer than a socket's path may be: the lock must not care.
    folder = join(parent, 'x'.repeat(120), 'data');
  });
  afterEach(() => removeFolder(parent));

  it('is made for its owner alone', async () => {
    const taken = await lockDataFolder(folder);
    expect(taken.path).toBe(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    taken.release();
  });

  it('is refused to a second taker, who is told which process has it', async () => {
    const taken = await lockDataFolder(folder);
    const refusal = lockDataFolder(folder);
    await expect(refusal).rejects.toBeInstanceOf(DataFolderInUseError);
    await expect(refusal).rejects.toThrow(`${folder} is in use by process ${process.pid}: stop that one first`);
    taken.release();
    taken.release();
    (await lockDataFolder(folder)).release();
  });

  it('is free at once when its holder is killed', async () => {
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

  it('goes to one of many who start together after a crash', async () => {
    (await lockDataFolder(folder)).release();
    const attempts = await Promise.allSettled(Array.from({ length: 10 }, () => lockDataFolder(folder)));
    const won = attempts.filter((attempt) => attempt.status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const { value } of won) value.release();
  });
});

describe('a kept secret', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await createTemporaryFolder();
  });
  afterEach(() => removeFolder(folder));

  it('is made once, for its owner alone', async () => {
    expect(await readOrCreateSecret(folder, 'key', () => 'first')).toBe('first');
    expect(await readOrCreateSecret(folder, 'key', () => 'second')).toBe('first');
    expect((await stat(join(folder, 'key'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, 'key'), 'utf8')).toBe('first\n');
  });

  it('is not replaced when it was lost', async () => {
    await writeFile(join(folder, 'key'), '');
    await expect(readOrCreateSecret(folder, 'key', () => 'new')).rejects.toThrow('is empty');
  });

  it('does not trip over a draft that a killed process has left', async () => {
    await writeFile(join(folder, 'key.draft'), 'half of', { mode: 0o644 });
    expect(await readOrCreateSecret(folder, 'key', () => 'whole')).toBe('whole');
    expect((await stat(join(folder, 'key'))).mode & 0o777).toBe(0o600);
  });
});
