import { randomBytes } from 'node:crypto';
import { copyFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { FolderBlobs } from '#storage/blob-store';
import { SystemClock } from '#platform/host';
import { createFolder, iterateChunks } from '../../../storage/blob-store/spec.js';
import { createArchive, openArchive, type BackupArchive } from './backup-archive.js';
import { parseBackupKey } from './backup-keys.js';
import type { BackupPart } from './backup-manifest.js';

const KEY = randomBytes(32);

let folder: string;
let blobs: FolderBlobs;
let archive: BackupArchive;
let part: BackupPart;

beforeEach(async () => {
  folder = await createFolder();
  blobs = new FolderBlobs(folder, new SystemClock());
  archive = await createArchive(blobs, KEY);
  part = await archive.putLines('log/000001', ['{"secret":1}', '{"secret":2}']);
  await archive.putFile('states/a', iterateChunks(3, 50_000));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const readAll = async (content: AsyncIterable<Uint8Array>): Promise<number> => {
  let size = 0;
  for await (const piece of content) size += piece.length;
  return size;
};

/** Changes one bit of a file. */
const changeBit = async (name: string, at: number): Promise<void> => {
  const bytes = await readFile(join(folder, name));
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await writeFile(join(folder, name), bytes);
};

describe('an archive', () => {
  it('returns what was written, with the same key', async () => {
    const opened = await openArchive(blobs, KEY);
    expect(await opened.readLines(part)).toEqual(['{"secret":1}', '{"secret":2}']);
    expect(await readAll(await opened.readFile('states/a'))).toBe(150_000);
    expect(await opened.readJson('manifest', z.unknown())).toBeNull();
  });

  it('contains no text in the clear', async () => {
    expect(await readFile(join(folder, 'log/000001'), 'latin1')).not.toContain('secret');
  });

  it('is refused with another key', async () => {
    await expect(openArchive(blobs, randomBytes(32))).rejects.toThrow(/^this is not the key of the backup; /);
  });

  it('is refused if its header was changed', async () => {
    const header = JSON.parse(await readFile(join(folder, 'backup.json'), 'utf8'));
    await writeFile(
      join(folder, 'backup.json'),
      JSON.stringify({ ...header, salt: randomBytes(32).toString('base64') }),
    );
    await expect(openArchive(blobs, KEY)).rejects.toThrow(/not the key of the backup/);
    await writeFile(join(folder, 'backup.json'), '{');
    await expect(openArchive(blobs, KEY)).rejects.toThrow('the backup is damaged: backup.json is not readable');
  });

  it('is refused if a later version made it', async () => {
    const header = JSON.parse(await readFile(join(folder, 'backup.json'), 'utf8'));
    await writeFile(join(folder, 'backup.json'), JSON.stringify({ ...header, version: 2 }));
    await expect(openArchive(blobs, KEY)).rejects.toThrow(/^a later version of Cadastre made this backup/);
  });

  it('reports where nothing is, and refuses to begin among other files', async () => {
    const other = new FolderBlobs(join(folder, 'log'), new SystemClock());
    await expect(openArchive(other, KEY)).rejects.toThrow(/^there is no backup; /);
    await expect(createArchive(other, KEY)).rejects.toThrow(/^the destination contains other files; /);
  });
});

describe('a part of an archive', () => {
  it.each([0, 10, 40, 80])('is refused if byte %d was changed', async (at) => {
    await changeBit('log/000001', at);
    await expect(archive.readLines(part)).rejects.toThrow('the backup is damaged: log/000001 was changed or cut off');
  });

  it.each([0, 5, 33, 60])('is refused if it was cut off after %d bytes', async (length) => {
    await truncate(join(folder, 'log/000001'), length);
    await expect(archive.readLines(part)).rejects.toThrow('the backup is damaged: log/000001 was changed or cut off');
  });

  it('is refused if it is another part of the same backup, or of another one', async () => {
    await archive.putLines('log/000002', ['{"secret":3}']);
    await copyFile(join(folder, 'log/000002'), join(folder, 'log/000001'));
    await expect(archive.readLines(part)).rejects.toThrow(/^the backup is damaged/);
    const other = await createArchive(new FolderBlobs(join(folder, 'other'), new SystemClock()), KEY);
    await other.putLines('log/000001', ['{"secret":1}', '{"secret":2}']);
    await copyFile(join(folder, 'other/log/000001'), join(folder, 'log/000001'));
    await expect(archive.readLines(part)).rejects.toThrow(/^the backup is damaged/);
  });

  it('is refused if it is missing, or has other lines than its list', async () => {
    await expect(archive.readLines({ ...part, name: 'log/000009' })).rejects.toThrow(/log\/000009 is missing/);
    await expect(archive.readLines({ ...part, lines: 3 })).rejects.toThrow(/log\/000001 was changed/);
  });
});

describe('a file of an archive', () => {
  it('is refused if it was changed in the middle, cut off at a frame, or removed', async () => {
    await changeBit('files/states/a', 100_000);
    await expect(archive.readFile('states/a').then(readAll)).rejects.toThrow(/states\/a was changed or cut off/);
    await truncate(join(folder, 'files/states/a'), 33 + 65_536 + 16);
    await expect(archive.readFile('states/a').then(readAll)).rejects.toThrow(/states\/a was changed or cut off/);
    await rm(join(folder, 'files/states/a'));
    await expect(archive.readFile('states/a')).rejects.toThrow(/the file states\/a is missing/);
  });
});

describe('parseBackupKey', () => {
  it('accepts 32 bytes in base64, with a line end', () => {
    expect(parseBackupKey(`${KEY.toString('base64')}\n`)).toEqual(KEY);
  });

  it.each(['', 'x', randomBytes(31).toString('base64'), randomBytes(32).toString('hex')])('refuses "%s"', (text) => {
    expect(parseBackupKey(text)).toBeNull();
  });
});
