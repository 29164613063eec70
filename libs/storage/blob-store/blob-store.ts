import type { Readable } from 'node:stream';
import type { ByteRange } from './byte-range.js';

/** The content of a blob: bytes in memory, or a stream of them. */
export type BlobContent = Uint8Array | AsyncIterable<Uint8Array>;

/** `size` is the size of the complete blob, even if only a range was requested. */
export type StoredBlob = { readonly size: number; readonly content: Readable };

export type ListedBlob = { readonly key: string; readonly size: number };

/** Thrown for a second write to a key. A blob is written once and never overwritten. */
export class BlobExistsError extends Error {
  constructor(readonly key: string) {
    super(`there is a blob named ${key} already`);
    this.name = 'BlobExists';
  }
}

/**
 * Stores files of any size under keys that the server chooses: state files, provider binaries.
 *
 * Keys are segments of letters, digits, `.`, `_`, `-`, `+` and `~`, joined by slashes. No segment begins with a dot.
 */
export abstract class BlobStore {
  /**
   * Stores a blob. After this resolves, the complete blob survives a crash. Before, no reader sees it. If the content
   * fails, nothing is stored, and this rejects with the content's error. Throws BlobExistsError for a key in use.
   */
  abstract put(key: string, content: BlobContent): Promise<void>;

  /**
   * Returns the blob, or null if it does not exist. The caller must read or destroy the content. A range must begin
   * within the blob, else this throws a RangeError; its part after the end of the blob is left out.
   */
  abstract get(key: string, range?: ByteRange): Promise<StoredBlob | null>;

  abstract head(key: string): Promise<{ readonly size: number } | null>;

  /** Deletes a blob, if it exists. */
  abstract delete(key: string): Promise<void>;

  /**
   * Lists the blobs whose keys begin with these segments, in any order; all blobs without them. It lists each blob that
   * exists from the beginning to the end of the listing. Others may or may not be listed.
   */
  abstract list(segments?: string): AsyncGenerator<ListedBlob>;

  /**
   * Replaces the stored bytes of a blob, to encrypt the same content with another key. Every reader gets the old bytes
   * or the new ones. Returns false, and stores nothing, if the blob does not exist.
   */
  abstract replace(key: string, content: BlobContent): Promise<boolean>;

  /** Checks at startup that the store can be used. Rejects with a message for the operator. */
  inspect(): Promise<void> {
    return Promise.resolve();
  }
}

const KEY = /^[A-Za-z0-9_+~-][A-Za-z0-9._+~-]*(?:\/[A-Za-z0-9_+~-][A-Za-z0-9._+~-]*)*$/;

/**
 * Returns the key. Keys come from our code: an invalid key is a fault of the server, and must never become a path
 * outside the store.
 */
export const checkBlobKey = (key: string): string => {
  if (!KEY.test(key)) throw new Error(`not a blob key: ${JSON.stringify(key)}`);
  return key;
};

/** Reads the content into memory, for files that are parsed at once. */
export const readBytes = async (content: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
};
