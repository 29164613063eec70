import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EncryptionKeys } from '#platform/encryption';
import { SystemClock } from '#platform/host';
import {
  EncryptedBlobs,
  FolderBlobs,
  readBytes,
  S3Blobs,
  type BlobStore,
  type ByteRange,
  type S3Location,
} from './index.js';

export const createFolder = (within = tmpdir()): Promise<string> => mkdtemp(join(within, 'cadastre-blobs-'));

export const listFiles = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
};

/** Returns a location with its own prefix in a bucket that other tests share. */
export const createS3Location = ({ endpoint, bucket }: { endpoint: string; bucket: string }): S3Location => ({
  endpoint,
  bucket,
  region: null,
  prefix: `${randomUUID()}/blobs`,
  pathStyle: true,
});

/** A store that another thread can open too: in a folder or in S3. */
export type StoreDescription = { readonly location: string | S3Location; readonly isEncrypted: boolean };

const KEY = new EncryptionKeys(Buffer.alloc(32, 1));

export const openStore = ({ location, isEncrypted }: StoreDescription): BlobStore => {
  const clock = new SystemClock();
  const store = typeof location === 'string' ? new FolderBlobs(location, clock) : new S3Blobs(location, clock);
  return isEncrypted ? new EncryptedBlobs(store, KEY) : store;
};

export const readContent = async (store: BlobStore, key: string, range?: ByteRange): Promise<Buffer | null> => {
  const blob = await store.get(key, range);
  return blob && readBytes(blob.content);
};

export const iterateChunks = async function* (count: number, size: number): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n += 1) yield Buffer.alloc(size, n % 251);
};
