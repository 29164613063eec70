import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  createSampleLog,
  formatSampleExport,
  listSampleLines,
  signSampleCheckpoint,
  writeSampleLog,
} from '../../../test/support/trail-log.js';
import { verifyExport } from './export-verification.js';
import { openLog } from './log-readers.js';
import { verifyLog, type LogReport } from './log-verification.js';
import { openCheckpoint } from './opened-checkpoints.js';

// Two levels of full tiles would be 65,536 leaves, so partial tiles are at level 0 and 1.
const SIZE = 700;
const log = createSampleLog(SIZE);
const fork = createSampleLog(SIZE, { privateKey: log.privateKey, forkedAt: 300 });
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cadastre-log-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const write = async (path: string, content: string | Uint8Array): Promise<void> =>
  writeFile(join(folder, path), content);

const alterFile = async (path: string, change: (bytes: Buffer) => Buffer): Promise<void> =>
  write(path, change(await readFile(join(folder, path))));

const flip =
  (offset: number) =>
  (bytes: Buffer): Buffer => {
    bytes[offset] = (bytes[offset] ?? 0) ^ 1;
    return bytes;
  };

const verify = (size?: number): Promise<LogReport> => {
  const open = async (): Promise<LogReport> => {
    const since = size === undefined ? null : openCheckpoint(await signSampleCheckpoint(log, size), [log.key]);
    return verifyLog(openLog(folder, null), { keys: [log.key], since });
  };
  return open();
};

/** Bytes of an entry in a bundle: its length and the leaf. */
const ENTRY = 34;

describe('a log in a folder', () => {
  beforeAll(() => writeSampleLog(log, folder));

  it('is verified', async () => {
    expect(await verify()).toMatchObject({ checkpoint: { size: SIZE }, firstBundled: 0 });
  });

  it.each([0, 1, 255, 256, 257, 512, 600, 699, 700])('extends a checkpoint of %i entries', async (size) => {
    expect(await verify(size)).toMatchObject({ since: { size } });
  });

  it('compares the entries of an export without proofs with the tiles', async () => {
    const lines = await listSampleLines(log, { withProofs: false });
    const check = (changed: readonly object[], isOnline = true): ReturnType<typeof verifyExport> =>
      verifyExport([Buffer.from(formatSampleExport(checkpoint, changed))] as never, {
        keys: [log.key],
        log: isOnline ? openLog(folder, null) : null,
      });
    const checkpoint = await signSampleCheckpoint(log);

    expect(await check(lines)).toMatchObject({ entries: SIZE });
    await expect(check(lines.toSpliced(600, 1))).rejects.toThrow('line 602: entry 600 was removed');
    await expect(
      check(lines.map((line, index) => (index === 3 ? { ...line, salt: lines[0]?.salt } : line))),
    ).rejects.toThrow('line 5: entry 3 was altered');
    await expect(check(lines, false)).rejects.toThrow('line 2: entry 0 has no proof; name the log with --url');
  });

  it('shows whether the checkpoints of an export extend one that was kept', async () => {
    const options = { keys: [log.key], log: openLog(folder, null) };
    const text = Buffer.from(
      formatSampleExport(await signSampleCheckpoint(log), await listSampleLines(log, { start: 650 })),
    );
    const since = openCheckpoint(await signSampleCheckpoint(log, 400), [log.key]);
    expect(await verifyExport([text] as never, { ...options, since })).toMatchObject({ since: { size: 400 } });
    const other = openCheckpoint(await signSampleCheckpoint(fork, 400), [log.key]);
    await expect(verifyExport([text] as never, { ...options, since: other })).rejects.toMatchObject({
      problem: 'split-view',
    });
  });
});

describe('an altered log in a folder', () => {
  const restore = (): Promise<void> => writeSampleLog(log, folder);

  it.each<[string, string, (bytes: Buffer) => Buffer, string, string]>([
    [
      'a flipped byte in a bundle',
      'tile/entries/001',
      flip(ENTRY * 10 + 5),
      'altered',
      'tile/entries/001: entry 266 was altered',
    ],
    [
      'a flipped byte in the last bundle',
      'tile/entries/002.p/188',
      flip(ENTRY * 10 + 5),
      'altered',
      'tile/entries/002.p/188: entry 522 was altered',
    ],
    [
      'a flipped byte in a tile',
      'tile/0/001',
      flip(32 * 10),
      'altered',
      'tile/0/001: the hash of entry 266 was altered',
    ],
    [
      'a flipped byte in the last tile',
      'tile/0/002.p/188',
      flip(32 * 10),
      'altered',
      'tile/0/002.p/188: the hash of entry 522 was altered',
    ],
    [
      'a flipped byte in an upper tile',
      'tile/1/000.p/2',
      flip(32),
      'altered',
      'tile/1/000.p/2: hash 1 is not that of tile/0/001',
    ],
    [
      'a removed entry',
      'tile/entries/001',
      (bytes) => Buffer.concat([bytes.subarray(0, ENTRY * 10), bytes.subarray(ENTRY * 11)]),
      'removed',
      'tile/entries/001: entry 266 was removed',
    ],
    [
      'an entry removed at the end',
      'tile/entries/002.p/188',
      (bytes) => bytes.subarray(0, -ENTRY),
      'removed',
      'tile/entries/002.p/188: entry 699 was removed',
    ],
    [
      'an inserted entry',
      'tile/entries/001',
      (bytes) =>
        Buffer.concat([
          bytes.subarray(0, ENTRY * 10),
          Buffer.alloc(ENTRY, Buffer.from([0, 32])),
          bytes.subarray(ENTRY * 10),
        ]),
      'inserted',
      'tile/entries/001: this entry is not in the log; it was inserted before entry 266',
    ],
    [
      'an inserted short entry',
      'tile/entries/001',
      (bytes) => Buffer.concat([bytes.subarray(0, ENTRY * 10), Buffer.from([0, 1, 7]), bytes.subarray(ENTRY * 10)]),
      'inserted',
      'tile/entries/001: this entry is not in the log; it was inserted before entry 266',
    ],
    [
      'a moved entry',
      'tile/entries/001',
      (bytes) =>
        Buffer.concat([
          bytes.subarray(0, ENTRY * 10),
          bytes.subarray(ENTRY * 11, ENTRY * 12),
          bytes.subarray(ENTRY * 10, ENTRY * 11),
          bytes.subarray(ENTRY * 12),
        ]),
      'moved',
      'tile/entries/001: entry 267 was moved before entry 266',
    ],
    [
      'a shorter tile',
      'tile/0/001',
      (bytes) => bytes.subarray(32),
      'altered',
      'tile/0/001 must have 256 hashes, got 8160 bytes',
    ],
    [
      'a longer entry',
      'tile/entries/001',
      (bytes) => flip(0)(bytes),
      'malformed',
      'tile/entries/001 is no bundle of entries',
    ],
  ])('with %s names the first difference', async (_, path, change, problem, message) => {
    await restore();
    await alterFile(path, change);
    await expect(verify()).rejects.toMatchObject({ name: 'TrailAlteredError', problem, message });
  });

  it('with the tree of a second history is refused', async () => {
    await writeSampleLog(fork, folder);
    await write('checkpoint', await signSampleCheckpoint(log));
    await expect(verify()).rejects.toMatchObject({ problem: 'split-view' });
  });

  it('that is a second history does not extend a checkpoint of the first', async () => {
    await writeSampleLog(fork, folder);
    await expect(verify(400)).rejects.toMatchObject({
      problem: 'split-view',
      message: 'two histories were signed: the checkpoint of size 700 does not extend the checkpoint of size 400',
    });
    await expect(verify(700)).rejects.toMatchObject({ problem: 'split-view' });
    expect(await verify(300)).toMatchObject({ since: { size: 300 } });
  });

  it('that is smaller than before is refused', async () => {
    await restore();
    await write('checkpoint', await signSampleCheckpoint(log, 512));
    await expect(verify(700)).rejects.toMatchObject({ problem: 'rollback' });
  });

  it('may lack bundles of the first entries, and no others', async () => {
    await restore();
    await rm(join(folder, 'tile/entries/000'));
    expect(await verify()).toMatchObject({ firstBundled: 256 });
    await restore();
    await rm(join(folder, 'tile/entries/001'));
    await expect(verify()).rejects.toMatchObject({ problem: 'removed', index: 256 });
  });

  it('is read with full tiles where a partial one is gone', async () => {
    await restore();
    await write('checkpoint', await signSampleCheckpoint(log, 300));
    await rename(join(folder, 'tile/1/000.p/2'), join(folder, 'tile/1/000.p/1'));
    await alterFile('tile/1/000.p/1', (bytes) => bytes.subarray(0, 32));
    expect(await verify()).toMatchObject({ checkpoint: { size: 300 } });
  });

  it.each(['checkpoint', 'tile/0/001', 'tile/0/002.p/188', 'tile/1/000.p/2'])(
    'without %s cannot be verified',
    async (path) => {
      await restore();
      await rm(join(folder, path));
      await expect(verify()).rejects.toMatchObject({ name: 'TrailUnreadableError', message: `${path} is not there` });
    },
  );
});
