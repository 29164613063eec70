import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { BUILD } from '../../../test/support/folders.js';
import { startS3, type TestS3 } from '../../../test/support/s3/index.js';
import { BlobExistsError, readBytes, type BlobStore, type ListedBlob } from './index.js';
import {
  readContent,
  listFiles,
  createFolder,
  iterateChunks,
  createS3Location,
  openStore,
  type StoreDescription,
} from './spec.js';

const MIB = 1024 * 1024;
const LARGE_BLOB = join(BUILD, 'dist/test/support/large-blob.js');

/** An empty store, and a function that lists what is physically stored. */
type TestStore = {
  readonly description: StoreDescription;
  readonly store: BlobStore;
  readonly listFiles: () => Promise<string[]>;
};

let s3: TestS3;
let root: string;

beforeAll(async () => {
  s3 = await startS3();
  Object.assign(process.env, s3.credentials);
  root = await createFolder();
});

afterAll(async () => {
  await s3.stop();
  await rm(root, { recursive: true, force: true });
});

const inFolder = (isEncrypted: boolean) => async (): Promise<TestStore> => {
  const folder = await createFolder(root);
  const description = { location: folder, isEncrypted };
  return { description, store: openStore(description), listFiles: () => listFiles(folder) };
};

const inS3 = (isEncrypted: boolean) => (): Promise<TestStore> => {
  const location = createS3Location(s3);
  const description = { location, isEncrypted };
  const listKeys = () => s3.listKeys(location.prefix);
  return Promise.resolve({ description, store: openStore(description), listFiles: listKeys });
};

const byKey = (a: ListedBlob, b: ListedBlob): number => (a.key < b.key ? -1 : 1);

describe.each([
  ['FolderBlobs', inFolder(false), 16 * MIB],
  ['EncryptedBlobs over FolderBlobs', inFolder(true), 16 * MIB],
  // Parts of 5 MiB: one part is sent while the next is collected and joined.
  ['S3Blobs', inS3(false), 32 * MIB],
  ['EncryptedBlobs over S3Blobs', inS3(true), 32 * MIB],
])('%s', (_name, make, memory) => {
  let store: BlobStore;
  let description: StoreDescription;
  let listStored: TestStore['listFiles'];

  beforeEach(async () => {
    ({ store, description, listFiles: listStored } = await make());
  });

  it.each([0, 1, 65_535, 65_536, 65_537, 131_072, 300_000])('returns %i bytes as they were put', async (size) => {
    const content = randomBytes(size);
    await store.put('a/b', content);
    expect((await readContent(store, 'a/b'))?.equals(content)).toBe(true);
    expect(await store.head('a/b')).toEqual({ size });
    const blob = await store.get('a/b');
    blob?.content.destroy();
    expect(blob?.size).toBe(size);
  });

  it('accepts a stream with chunks of any size', async () => {
    await store.put('odd', iterateChunks(97, 4_999));
    expect((await readContent(store, 'odd'))?.equals(await readBytes(iterateChunks(97, 4_999)))).toBe(true);
    await store.put('long', iterateChunks(1_300, 9_999));
    expect((await readContent(store, 'long'))?.equals(await readBytes(iterateChunks(1_300, 9_999)))).toBe(true);
  });

  describe('reading a range', () => {
    // Frames of encrypted blobs have 64 KiB. The last frame is short in the first case and full in the second.
    it.each([3 * 65_536 + 1_000, 2 * 65_536])('returns exactly the range of a blob of %i bytes', async (size) => {
      const content = randomBytes(size);
      await store.put('whole', content);
      const edges = [0, 1, 65_535, 65_536, 65_537, 131_071, 131_072, size - 2, size - 1].filter((edge) => edge < size);
      for (const start of edges) {
        for (const end of [start, ...edges.filter((edge) => edge > start), size, size + 70_000, undefined]) {
          const blob = await store.get('whole', end === undefined ? { start } : { start, end });
          const expected = content.subarray(start, (end ?? size) + 1);
          expect([blob?.size, blob && (await readBytes(blob.content)).equals(expected)]).toEqual([size, true]);
        }
      }
    });

    it('throws a RangeError if the range begins outside the blob', async () => {
      await store.put('ten', Buffer.alloc(10));
      await store.put('nothing', Buffer.alloc(0));
      await expect(store.get('ten', { start: 10 })).rejects.toThrow(RangeError);
      await expect(store.get('ten', { start: 5, end: 4 })).rejects.toThrow(RangeError);
      await expect(store.get('ten', { start: 80_000, end: 90_000 })).rejects.toThrow(RangeError);
      await expect(store.get('nothing', { start: 0 })).rejects.toThrow(RangeError);
    });

    it('returns null if the blob does not exist', async () => {
      expect(await store.get('none', { start: 0 })).toBeNull();
    });
  });

  it('refuses a second blob with the same key, and keeps the first', async () => {
    await store.put('once', Buffer.from('first'));
    await expect(store.put('once', Buffer.from('second'))).rejects.toBeInstanceOf(BlobExistsError);
    await expect(store.put('once', iterateChunks(700, 10_000))).rejects.toBeInstanceOf(BlobExistsError);
    expect((await readContent(store, 'once'))?.toString()).toBe('first');
    expect(await listStored()).toHaveLength(1);
  });

  it('accepts exactly one of many concurrent writers of a key', async () => {
    const attempts = Array.from({ length: 20 }, (_, n) => store.put('race', Buffer.from(`writer ${n}`)));
    const results = await Promise.allSettled(attempts);
    const winner = results.findIndex((result) => result.status === 'fulfilled');
    const rejections = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
    expect(rejections).toHaveLength(19);
    for (const refusal of rejections) expect(refusal).toBeInstanceOf(BlobExistsError);
    expect((await readContent(store, 'race'))?.toString()).toBe(`writer ${winner}`);
    expect(await listStored()).toHaveLength(1);
  });

  it.each([
    ['early', 40],
    ['late', 1_200],
  ])('stores nothing and rejects with the error if the content fails %s', async (_when, count) => {
    const broken = async function* (): AsyncGenerator<Buffer> {
      yield* iterateChunks(count, 10_000);
      throw new Error('the line went dead');
    };
    await expect(store.put('cut', broken())).rejects.toThrow('the line went dead');
    expect(await store.head('cut')).toBeNull();
    expect(await listStored()).toEqual([]);
    await store.put('cut', Buffer.from('again'));
    expect((await readContent(store, 'cut'))?.toString()).toBe('again');
  });

  it('returns null for keys that were never put, were deleted, or are only the beginning of a key', async () => {
    await store.put('a/b', Buffer.from('x'));
    for (const key of ['b', 'a']) {
      expect(await store.get(key)).toBeNull();
      expect(await store.head(key)).toBeNull();
    }
    await store.delete('a/b');
    await store.delete('a/b');
    expect(await store.get('a/b')).toBeNull();
    expect(await listStored()).toEqual([]);
  });

  it.each(['', '/', '../a', 'a/../b', 'a//b', '.hidden', 'a/.b', 'a b', 'a\0b', 'a\\b'])(
    'refuses %j as a key',
    async (key) => {
      await expect(store.put(key, Buffer.from('x'))).rejects.toThrow('not a blob key');
      await expect(store.get(key)).rejects.toThrow('not a blob key');
      await expect(store.head(key)).rejects.toThrow('not a blob key');
      await expect(store.delete(key)).rejects.toThrow('not a blob key');
    },
  );

  it('lists all blobs, or those below some segments of their keys, with the size of their content', async () => {
    await store.put('a/b', Buffer.from('12'));
    await store.put('a/c/d', Buffer.from('123'));
    await store.put('ab', randomBytes(100_000));
    await store.delete('a/missing');
    const list = async (segments?: string): Promise<readonly ListedBlob[]> => {
      const blobs: ListedBlob[] = [];
      for await (const blob of store.list(segments)) blobs.push(blob);
      return blobs.toSorted(byKey);
    };
    expect(await list()).toEqual([
      { key: 'a/b', size: 2 },
      { key: 'a/c/d', size: 3 },
      { key: 'ab', size: 100_000 },
    ]);
    expect(await list('a')).toEqual([
      { key: 'a/b', size: 2 },
      { key: 'a/c/d', size: 3 },
    ]);
    expect(await list('b')).toEqual([]);
    await expect(list('../a')).rejects.toThrow('not a blob key');
  });

  it('replaces a blob for later readers, and no blob that was deleted', async () => {
    await store.put('a/b', Buffer.from('before'));
    const earlier = await store.get('a/b');
    expect(await store.replace('a/b', iterateChunks(700, 9_999))).toBe(true);
    expect(String(earlier && (await readBytes(earlier.content)))).toBe('before');
    expect((await readContent(store, 'a/b'))?.equals(await readBytes(iterateChunks(700, 9_999)))).toBe(true);
    await store.delete('a/b');
    expect(await store.replace('a/b', Buffer.from('after'))).toBe(false);
    expect(await store.head('a/b')).toBeNull();
    expect(await listStored()).toEqual([]);
  });

  it('closes a blob if its reader stops early', async () => {
    await store.put('big', randomBytes(1_000_000));
    const blob = await store.get('big');
    for await (const piece of blob?.content ?? []) {
      expect((piece as Buffer).length).toBeGreaterThan(0);
      break;
    }
    expect(blob?.content.destroyed).toBe(true);
  });

  it('keeps only a small part of a large blob in memory', async () => {
    const program = new Worker(LARGE_BLOB, { workerData: { store: description, memory } });
    const failure = new Promise((resolve) => program.once('error', resolve));
    const exit = new Promise((resolve) => program.once('exit', resolve));
    expect(await Promise.race([failure, exit])).toBe(0);
  });
});
