import type { Readable } from 'node:stream';
import type { ByteRange } from './byte-range.js';

/** What a blob is made of: bytes at hand, or a stream of them. */
export type BlobContent = Uint8Array | AsyncIterable<Uint8Array>;

/** The size is that of the whole blob, also where only a range of it was asked for. */
export type StoredBlob = { readonly size: number; readonly content: Readable };

/** A blob is written once: whoever comes second for the same key is told so, and changes nothing. */
export class BlobExistsError extends Error {
  constructor(readonly key: string) {
    super(`there is a blob named ${key} already`);
    this.name = 'BlobExists';
  }
}

/**
 * Files of any size under names of ours: state files, provider binaries.
 *
 * Keys are segments of letters, digits, `.`, `_`, `-`, `+` and `~`, joined by slashes; no segment begins with a dot.
 */
export abstract class BlobStore {
  /**
   * When this resolves, the whole blob is there and outlives a crash. Until then there is nothing to be seen of it; an
   * error of the content leaves nothing behind, and is what this rejects with. Throws BlobExistsError for a key in use.
   */
  abstract put(key: string, content: BlobContent): Promise<void>;

  /**
   * Null where there is no such blob. Who asks must read the content or destroy it. A range must begin within the blob,
   * else this throws a RangeError; what it asks for beyond the end is not there.
   */
  abstract get(key: string, range?: ByteRange): Promise<StoredBlob | null>;

  abstract head(key: string): Promise<{ readonly size: number } | null>;

  /** A blob that is not there is deleted already. */
  abstract delete(key: string): Promise<void>;

  /** For the start of a process: rejects with what is in the way of using this store, in words for its operator. */
  inspect(): Promise<void> {
    return Promise.resolve();
  }
}

const KEY = /^[A-Za-z0-9_+~-][A-Za-z0-9._+~-]*(?:\/[A-Za-z0-9_+~-][A-Za-z0-9._+~-]*)*$/;

/** Keys are made by us: a bad one is our fault, and must never become a path out of the store. */
export const checkBlobKey = (key: string): string => {
  if (!KEY.test(key)) throw new Error(`not a blob key: ${JSON.stringify(key)}`);
  return key;
};

/** All of it in memory: for what must be parsed as a whole. */
export const readBytes = async (content: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
};
