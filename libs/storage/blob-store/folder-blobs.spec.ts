import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SystemClock } from '#platform/host';
import { FolderBlobs } from './index.js';
import { listFiles, createFolder } from './spec.js';

const clock = new SystemClock();

describe('FolderBlobs', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await createFolder();
  });

  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('returns null for keys that begin with another blob’s key', async () => {
    const store = new FolderBlobs(folder, clock);
    await store.put('a/b', Buffer.from('x'));
    expect([await store.get('a/b/c'), await store.head('a/b/c')]).toEqual([null, null]);
    await store.delete('a/b/c');
  });

  it('removes drafts that a killed process left a day ago, and keeps newer ones', async () => {
    await new FolderBlobs(folder, clock).put('first', Buffer.from('x'));
    const [old, young] = [join(folder, '.drafts', 'old'), join(folder, '.drafts', 'young')];
    await writeFile(old, 'left');
    await writeFile(young, 'being written');
    const yesterday = new Date(Date.now() - 25 * 60 * 60 * 1000);
    await utimes(old, yesterday, yesterday);
    await new FolderBlobs(folder, clock).put('second', Buffer.from('y'));
    expect((await listFiles(folder)).toSorted()).toEqual([young, join(folder, 'first'), join(folder, 'second')]);
  });
});
