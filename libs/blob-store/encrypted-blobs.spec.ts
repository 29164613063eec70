import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { SystemClock } from '#host';
import { readBytes, EncryptedBlobs, FolderBlobs, type BlobStore } from './index.js';
import { readContent, createFolder } from './spec.js';

const clock = new SystemClock();
const KEY = Buffer.alloc(32, 1);

let root: string;

beforeAll(async () => {
  root = await createFolder();
});

afterAll(() => rm(root, { recursive: true, force: true }));

describe('EncryptedBlobs', () => {
  const encrypted = async (): Promise<{ folder: string; store: BlobStore; file: string }> => {
    const folder = await createFolder(root);
    const store = new EncryptedBlobs(new FolderBlobs(folder, clock), KEY);
    return { folder, store, file: join(folder, 'secret') };
  };

  it('stores no plaintext, and encrypts equal blobs differently', async () => {
    const { folder, store, file } = await encrypted();
    await store.put('secret', Buffer.from('hunter2 '.repeat(20_000)));
    await store.put('again', Buffer.from('hunter2 '.repeat(20_000)));
    const [one, two] = [await readFile(file), await readFile(join(folder, 'again'))];
    expect(one.includes('hunter2')).toBe(false);
    expect(one.subarray(33, 200).equals(two.subarray(33, 200))).toBe(false);
  });

  const damages: readonly [string, (bytes: Buffer) => Buffer][] = [
    ['a changed byte', (bytes) => Buffer.from(bytes.map((byte, index) => (index === 70_000 ? byte ^ 1 : byte)))],
    ['a changed salt', (bytes) => Buffer.from(bytes.map((byte, index) => (index === 5 ? byte ^ 1 : byte)))],
    ['a missing end', (bytes) => bytes.subarray(0, 33 + 65_552)],
    ['a missing frame', (bytes) => Buffer.concat([bytes.subarray(0, 33), bytes.subarray(33 + 65_552)])],
    ['something added', (bytes) => Buffer.concat([bytes, Buffer.from('x')])],
    ['another format', (bytes) => Buffer.concat([Buffer.of(9), bytes.subarray(1)])],
    ['hardly anything left', (bytes) => bytes.subarray(0, 40)],
    ['nothing left', () => Buffer.alloc(0)],
  ];

  it.each(damages)('refuses to decrypt a blob with %s', async (_name, damage) => {
    const { store, file } = await encrypted();
    await store.put('secret', randomBytes(200_000));
    await writeFile(file, damage(await readFile(file)));
    await expect(readContent(store, 'secret')).rejects.toThrow(/damaged/);
  });

  it.each(damages)('returns no wrong byte of a blob with %s, whatever the range', async (_name, damage) => {
    const { store, file } = await encrypted();
    const content = randomBytes(200_000);
    await store.put('secret', content);
    await writeFile(file, damage(await readFile(file)));
    const starts = [0, 60_000, 65_536, 69_000, 131_072, 196_608, 199_999];
    const answers = await Promise.all(
      starts.map(async (start) => {
        const bytes = await readContent(store, 'secret', { start, end: start + 9 }).catch(() => 'refused');
        if (bytes === 'refused') return bytes;
        return content.subarray(start, start + 10).equals(bytes as Buffer) ? 'right' : 'wrong';
      }),
    );
    expect(answers).toContain('refused');
    expect(answers).not.toContain('wrong');
  });

  it('refuses to decrypt a blob that was copied to another key', async () => {
    const { folder, store } = await encrypted();
    await store.put('secret', Buffer.from('mine'));
    await writeFile(join(folder, 'other'), await readFile(join(folder, 'secret')));
    await expect(readContent(store, 'other')).rejects.toThrow(/damaged/);
  });

  it('refuses to decrypt with another encryption key', async () => {
    const { folder, store } = await encrypted();
    await store.put('secret', Buffer.from('mine'));
    const otherStore = new EncryptedBlobs(new FolderBlobs(folder, clock), Buffer.alloc(32, 2));
    await expect(readContent(otherStore, 'secret')).rejects.toThrow(/another key/);
    expect(() => new EncryptedBlobs(new FolderBlobs(folder, clock), Buffer.alloc(16))).toThrow('32 bytes');
  });

  it('passes an error of the inner store to the reader of the stream', async () => {
    const { store, folder } = await encrypted();
    await store.put('secret', randomBytes(200_000));
    const broken = new EncryptedBlobs(new BreakingBlobs(folder, clock), KEY);
    await expect(readContent(broken, 'secret')).rejects.toThrow('disk gone');
    await expect(readContent(broken, 'secret', { start: 70_000 })).rejects.toThrow('disk gone');
  });
});

/** Fails after the first bytes of a read. */
class BreakingBlobs extends FolderBlobs {
  override async get(...parameters: Parameters<FolderBlobs['get']>): ReturnType<FolderBlobs['get']> {
    const blob = await super.get(...parameters);
    if (!blob) return null;
    const content = Readable.from(
      (async function* () {
        yield (await readBytes(blob.content)).subarray(0, 1_000);
        throw new Error('disk gone');
      })(),
    );
    return { size: blob.size, content };
  }
}
