import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Clock } from '#kernel';
import { BlobExists, bytesOf, EncryptedBlobs, FolderBlobs, type BlobStore } from './index.js';

class MachineClock extends Clock {
  override now(): Date {
    return new Date();
  }
}

const clock = new MachineClock();
const KEY = Buffer.alloc(32, 1);

let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'cadastre-blobs-'));
});

afterAll(() => rm(root, { recursive: true, force: true }));

const newFolder = (): Promise<string> => mkdtemp(join(root, 'store-'));

const contentOf = async (store: BlobStore, key: string): Promise<Buffer | null> => {
  const found = await store.get(key);
  return found && bytesOf(found.content);
};

const files = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
};

const pieces = async function* (count: number, size: number): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n += 1) yield Buffer.alloc(size, n % 251);
};

const stores = [
  ['FolderBlobs', (folder: string): BlobStore => new FolderBlobs(folder, clock)],
  [
    'EncryptedBlobs over FolderBlobs',
    (folder: string): BlobStore => new EncryptedBlobs(new FolderBlobs(folder, clock), KEY),
  ],
] as const;

describe.each(stores)('%s', (_name, make) => {
  it.each([0, 1, 65_535, 65_536, 65_537, 131_072, 300_000])('gives back %i bytes as they were put', async (size) => {
    const store = make(await newFolder());
    const content = randomBytes(size);
    await store.put('a/b', content);
    expect((await contentOf(store, 'a/b'))?.equals(content)).toBe(true);
    expect(await store.head('a/b')).toEqual({ size });
    const found = await store.get('a/b');
    found?.content.destroy();
    expect(found?.size).toBe(size);
  });

  it('takes a stream in pieces of any size', async () => {
    const store = make(await newFolder());
    await store.put('odd', pieces(97, 4_999));
    expect((await contentOf(store, 'odd'))?.equals(await bytesOf(pieces(97, 4_999)))).toBe(true);
  });

  it('refuses a second blob of the same key, and keeps the first', async () => {
    const store = make(await newFolder());
    await store.put('once', Buffer.from('first'));
    await expect(store.put('once', Buffer.from('second'))).rejects.toBeInstanceOf(BlobExists);
    expect((await contentOf(store, 'once'))?.toString()).toBe('first');
  });

  it('lets exactly one of many writers of a key win', async () => {
    const store = make(await newFolder());
    const attempts = Array.from({ length: 20 }, (_, n) => store.put('race', Buffer.from(`writer ${n}`)));
    const results = await Promise.allSettled(attempts);
    const winner = results.findIndex((result) => result.status === 'fulfilled');
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    expect((await contentOf(store, 'race'))?.toString()).toBe(`writer ${winner}`);
  });

  it('leaves nothing behind when the content breaks off, and says why', async () => {
    const folder = await newFolder();
    const store = make(folder);
    const broken = async function* (): AsyncGenerator<Buffer> {
      yield* pieces(40, 10_000);
      throw new Error('the line went dead');
    };
    await expect(store.put('cut', broken())).rejects.toThrow('the line went dead');
    expect(await store.head('cut')).toBeNull();
    expect(await files(folder)).toEqual([]);
    await store.put('cut', Buffer.from('again'));
    expect((await contentOf(store, 'cut'))?.toString()).toBe('again');
  });

  it('knows nothing of keys that were never put or were deleted, nor of beginnings of keys', async () => {
    const store = make(await newFolder());
    await store.put('a/b', Buffer.from('x'));
    for (const key of ['b', 'a', 'a/b/c']) {
      expect(await store.get(key)).toBeNull();
      expect(await store.head(key)).toBeNull();
    }
    await store.delete('a/b');
    await store.delete('a/b');
    expect(await store.get('a/b')).toBeNull();
  });

  it.each(['', '/', '../a', 'a/../b', 'a//b', '.hidden', 'a/.b', 'a b', 'a\0b', 'a\\b'])(
    'takes %j for no key at all',
    async (key) => {
      const store = make(await newFolder());
      await expect(store.put(key, Buffer.from('x'))).rejects.toThrow('not a blob key');
    },
  );

  it('lets go of a blob whose reader loses interest', async () => {
    const store = make(await newFolder());
    await store.put('big', randomBytes(1_000_000));
    const found = await store.get('big');
    for await (const piece of found?.content ?? []) {
      expect((piece as Buffer).length).toBeGreaterThan(0);
      break;
    }
    expect(found?.content.destroyed).toBe(true);
  });

  it('holds little of a large blob in memory', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const store = make(await newFolder());
    const held = async (): Promise<number> => {
      collectGarbage();
      // V8 frees the bytes behind buffers on a thread of its own.
      await setTimeout(25);
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const before = await held();
    const samples: number[] = [];
    // As they come from a socket: 100 MB in pieces of 64 KiB.
    const large = async function* (): AsyncGenerator<Buffer> {
      for (let n = 0; n < 1_600; n += 1) {
        if (n % 400 === 399) samples.push(await held());
        yield Buffer.alloc(64 * 1024, n % 251);
      }
    };
    await store.put('large', large());
    const hash = createHash('md5');
    let size = 0;
    const found = await store.get('large');
    for await (const piece of found?.content ?? []) {
      hash.update(piece as Buffer);
      size += (piece as Buffer).length;
      if (size % (20 * 1024 * 1024) === 0) samples.push(await held());
    }
    const expected = createHash('md5');
    for await (const piece of large()) expected.update(piece);
    expect(hash.digest('hex')).toBe(expected.digest('hex'));
    expect(Math.max(...samples) - before).toBeLessThan(16 * 1024 * 1024);
  });
});

describe('FolderBlobs', () => {
  it('removes drafts that a killed process left a day ago, and no younger ones', async () => {
    const folder = await newFolder();
    await new FolderBlobs(folder, clock).put('first', Buffer.from('x'));
    const [old, young] = [join(folder, '.drafts', 'old'), join(folder, '.drafts', 'young')];
    await writeFile(old, 'left');
    await writeFile(young, 'being written');
    const yesterday = new Date(Date.now() - 25 * 60 * 60 * 1000);
    await utimes(old, yesterday, yesterday);
    await new FolderBlobs(folder, clock).put('second', Buffer.from('y'));
    expect((await files(folder)).toSorted()).toEqual([young, join(folder, 'first'), join(folder, 'second')]);
  });
});

describe('EncryptedBlobs', () => {
  const encrypted = async (): Promise<{ folder: string; store: BlobStore; file: string }> => {
    const folder = await newFolder();
    const store = new EncryptedBlobs(new FolderBlobs(folder, clock), KEY);
    return { folder, store, file: join(folder, 'secret') };
  };

  it('writes nothing readable, and nothing twice alike', async () => {
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

  it.each(damages)('does not open what has %s', async (_name, damage) => {
    const { store, file } = await encrypted();
    await store.put('secret', randomBytes(200_000));
    await writeFile(file, damage(await readFile(file)));
    await expect(contentOf(store, 'secret')).rejects.toThrow(/damaged/);
  });

  it('does not open one blob in the place of another', async () => {
    const { folder, store } = await encrypted();
    await store.put('secret', Buffer.from('mine'));
    await writeFile(join(folder, 'other'), await readFile(join(folder, 'secret')));
    await expect(contentOf(store, 'other')).rejects.toThrow(/damaged/);
  });

  it('does not open anything with another key', async () => {
    const { folder, store } = await encrypted();
    await store.put('secret', Buffer.from('mine'));
    const other = new EncryptedBlobs(new FolderBlobs(folder, clock), Buffer.alloc(32, 2));
    await expect(contentOf(other, 'secret')).rejects.toThrow(/another key/);
    expect(() => new EncryptedBlobs(new FolderBlobs(folder, clock), Buffer.alloc(16))).toThrow('32 bytes');
  });

  it('tells a reader who comes by a stream that the inner store broke', async () => {
    const { store, folder } = await encrypted();
    await store.put('secret', randomBytes(200_000));
    const broken = new EncryptedBlobs(new BreakingBlobs(folder, clock), KEY);
    await expect(contentOf(broken, 'secret')).rejects.toThrow('disk gone');
  });
});

/** Reads a little, then fails. */
class BreakingBlobs extends FolderBlobs {
  override async get(key: string): ReturnType<FolderBlobs['get']> {
    const found = await super.get(key);
    if (!found) return null;
    const content = Readable.from(
      (async function* () {
        yield (await bytesOf(found.content)).subarray(0, 1_000);
        throw new Error('disk gone');
      })(),
    );
    return { size: found.size, content };
  }
}
