import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesOf, type BlobStore, type ByteRange, type S3Place } from './index.js';

export const newFolder = (within = tmpdir()): Promise<string> => mkdtemp(join(within, 'cadastre-blobs-'));

export const filesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
};

/** A place of its own in a bucket that others use too. */
export const s3Place = ({ endpoint, bucket }: { endpoint: string; bucket: string }): S3Place => ({
  endpoint,
  bucket,
  region: null,
  prefix: `${randomUUID()}/blobs`,
  pathStyle: true,
});

export const contentOf = async (store: BlobStore, key: string, range?: ByteRange): Promise<Buffer | null> => {
  const found = await store.get(key, range);
  return found && bytesOf(found.content);
};

export const piecesOf = async function* (count: number, size: number): AsyncGenerator<Buffer> {
  for (let n = 0; n < count; n += 1) yield Buffer.alloc(size, n % 251);
};
