import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DataFolderInUse, keepSecret, takeDataFolder } from './data-folder.js';
import { childRunning, kill, removeFolder, temporaryFolder } from './spec.js';

describe('the data folder', () => {
  let parent: string;
  let folder: string;
  beforeEach(async () => {
    parent = await temporaryFolder();
    // Longer than a socket's path may be: the lock must not care.
    folder = join(parent, 'x'.repeat(120), 'data');
  });
  afterEach(() => removeFolder(parent));

  it('is made for its owner alone', async () => {
    const taken = await takeDataFolder(folder);
    expect(taken.path).toBe(folder);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    taken.release();
  });

  it('is refused to a second taker, who is told which process has it', async () => {
    const taken = await takeDataFolder(folder);
    const refusal = takeDataFolder(folder);
    await expect(refusal).rejects.toBeInstanceOf(DataFolderInUse);
    await expect(refusal).rejects.toThrow(`${folder} is in use by process ${process.pid}: stop that one first`);
    taken.release();
    taken.release();
    (await takeDataFolder(folder)).release();
  });

  it('is free at once when its holder is killed', async () => {
    const { child, firstLine } = await childRunning(`
      const { takeDataFolder } = await host('data-folder.js');
      await takeDataFolder(${JSON.stringify(folder)});
      console.log('taken');
      globalThis.gc?.();
      setInterval(() => undefined, 1000);
    `);
    expect(firstLine).toBe('taken');
    await expect(takeDataFolder(folder)).rejects.toMatchObject({ pid: child.pid });
    await kill(child);
    (await takeDataFolder(folder)).release();
  });

  it('goes to one of many who start together after a crash', async () => {
    (await takeDataFolder(folder)).release();
    const attempts = await Promise.allSettled(Array.from({ length: 10 }, () => takeDataFolder(folder)));
    const won = attempts.filter((attempt) => attempt.status === 'fulfilled');
    expect(won).toHaveLength(1);
    for (const { value } of won) value.release();
  });
});

describe('a kept secret', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => removeFolder(folder));

  it('is made once, for its owner alone', async () => {
    expect(await keepSecret(folder, 'key', () => 'first')).toBe('first');
    expect(await keepSecret(folder, 'key', () => 'second')).toBe('first');
    expect((await stat(join(folder, 'key'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(folder, 'key'), 'utf8')).toBe('first\n');
  });

  it('is not replaced when it was lost', async () => {
    await writeFile(join(folder, 'key'), '');
    await expect(keepSecret(folder, 'key', () => 'new')).rejects.toThrow('is empty');
  });

  it('does not trip over a draft that a killed process has left', async () => {
    await writeFile(join(folder, 'key.draft'), 'half of', { mode: 0o644 });
    expect(await keepSecret(folder, 'key', () => 'whole')).toBe('whole');
    expect((await stat(join(folder, 'key'))).mode & 0o777).toBe(0o600);
  });
});
