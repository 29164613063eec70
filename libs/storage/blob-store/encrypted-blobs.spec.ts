import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createCipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { EncryptionKeys } from '#platform/encryption';
import { SystemClock } from '#platform/host';
import { countFileKeys, EncryptedBlobs, FolderBlobs, readBytes, reencryptFiles, type BlobStore } from './index.js';
import { readContent, createFolder } from './spec.js';

const clock = new SystemClock();
const KEY = new EncryptionKeys(Buffer.alloc(32, 1));

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
    const otherStore = new EncryptedBlobs(new FolderBlobs(folder, clock), new EncryptionKeys(Buffer.alloc(32, 2)));
    await expect(readContent(otherStore, 'secret')).rejects.toThrow(/another key/);
  });

  it('passes an error of the inner store to the reader of the stream', async () => {
    const { store, folder } = await encrypted();
    await store.put('secret', randomBytes(200_000));
    const broken = new EncryptedBlobs(new BreakingBlobs(folder, clock), KEY);
    await expect(readContent(broken, 'secret')).rejects.toThrow('disk gone');
    await expect(readContent(broken, 'secret', { start: 70_000 })).rejects.toThrow('disk gone');
  });
});

describe('EncryptedBlobs with two keys', () => {
  const [OLD, NEW] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const content = randomBytes(200_000);
  let inner: FolderBlobs;
  let keys: EncryptionKeys;
  let store: EncryptedBlobs;

  beforeEach(async () => {
    inner = new FolderBlobs(await createFolder(root), clock);
    keys = new EncryptionKeys(NEW, OLD);
    keys.adopt({ writing: OLD, macKey: null });
    store = new EncryptedBlobs(inner, keys);
  });

  const openWith = (key: Buffer): EncryptedBlobs => new EncryptedBlobs(inner, new EncryptionKeys(key));

  /** Stores a blob whose salt does not name its key, as versions up to 0.2.0 did. */
  const putWithoutFingerprint = async (key: string): Promise<void> => {
    const salt = Buffer.alloc(32, 9);
    const blobKey = Buffer.from(hkdfSync('sha256', OLD, salt, 'cadastre blob 1', 32));
    const nonce = Buffer.alloc(12);
    nonce.writeUInt8(1, 11);
    const cipher = createCipheriv('aes-256-gcm', blobKey, nonce).setAAD(Buffer.from(key));
    const frame = [cipher.update('earlier'), cipher.final(), cipher.getAuthTag()];
    await inner.put(key, Buffer.concat([Buffer.of(1), salt, ...frame]));
  };

  it('encrypts a blob again, once, and only the new key reads it', async () => {
    await store.put('a', content);
    expect(await readContent(openWith(OLD), 'a')).toEqual(content);
    keys.adopt({ writing: NEW, macKey: null });
    expect(await readContent(store, 'a')).toEqual(content);
    expect(await store.findKey('a')).toBe(OLD);
    expect(await store.reencrypt('a')).toBe(true);
    expect(await store.reencrypt('a')).toBe(false);
    expect(await store.findKey('a')).toBe(NEW);
    expect(await readContent(openWith(NEW), 'a')).toEqual(content);
    await expect(readContent(openWith(OLD), 'a')).rejects.toThrow(/another key/);
    expect(await openWith(OLD).findKey('a')).toBeNull();
  });

  it('reads, counts and encrypts again blobs of versions that did not name the key', async () => {
    await putWithoutFingerprint('files/a');
    await store.put('files/b', content);
    await store.put('other', content);
    expect((await readContent(store, 'files/a', { start: 3, end: 5 }))?.toString()).toBe('lie');
    expect(await countFileKeys(store, keys, 'files', () => undefined)).toEqual({
      current: 0,
      previous: 2,
      missing: 0,
    });
    keys.adopt({ writing: NEW, macKey: null });
    const examined: number[] = [];
    expect(await reencryptFiles(store, 'files', () => examined.push(1))).toEqual({ reencrypted: 2, damaged: [] });
    expect(examined).toHaveLength(2);
    expect(await countFileKeys(store, keys, 'files', () => undefined)).toEqual({
      current: 2,
      previous: 0,
      missing: 0,
    });
    expect((await readContent(openWith(NEW), 'files/a'))?.toString()).toBe('earlier');
  });

  it('reports blobs that no key decrypts, and leaves them', async () => {
    await openWith(Buffer.alloc(32, 3)).put('files/a', content);
    await inner.put('files/b', Buffer.from('cut off'));
    keys.adopt({ writing: NEW, macKey: null });
    expect(await countFileKeys(store, keys, 'files', () => undefined)).toEqual({
      current: 0,
      previous: 0,
      missing: 2,
    });
    const { reencrypted, damaged } = await reencryptFiles(store, 'files', () => undefined);
    expect({ reencrypted, damaged: damaged.toSorted() }).toEqual({ reencrypted: 0, damaged: ['files/a', 'files/b'] });
    expect(await readContent(openWith(Buffer.alloc(32, 3)), 'files/a')).toEqual(content);
  });

  it('encrypts an upload again if the key was rotated while it arrived', async () => {
    keys.watch(() => Promise.resolve(NEW));
    await store.put('a', content);
    expect(await readContent(openWith(NEW), 'a')).toEqual(content);
  });

  it('finds no key of a blob that does not exist, and replaces nothing', async () => {
    expect(await store.findKey('a')).toBeUndefined();
    expect(await store.reencrypt('a')).toBe(false);
    expect(await store.replace('a', content)).toBe(false);
    expect(await store.head('a')).toBeNull();
  });

  it('returns the right range if the blob is replaced between two reads', async () => {
    await store.put('a', content);
    keys.adopt({ writing: NEW, macKey: null });
    const replacing = new (class extends FolderBlobs {
      override async get(...parameters: Parameters<FolderBlobs['get']>): ReturnType<FolderBlobs['get']> {
        const blob = await inner.get(...parameters);
        if (parameters[1]?.start === 0) await store.reencrypt('a');
        return blob;
      }
    })(root, clock);
    const range = { start: 70_000, end: 70_009 };
    expect(await readContent(new EncryptedBlobs(replacing, keys), 'a', range)).toEqual(
      content.subarray(70_000, 70_010),
    );
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
