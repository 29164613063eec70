import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { conflict } from '#platform/kernel';
import {
  BlobExistsError,
  computeDigest,
  type BlobContent,
  type BlobStore,
  type ByteRange,
  type StoredBlob,
} from '#storage/blob-store';

/** The state file of Terraform, and the same state in the documented JSON format (`terraform show -json`). */
export const FILE_KINDS = ['state', 'json-state'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** Files that are extracted from the state once (state-extract.ts). Clients cannot upload or download them. */
export const EXTRACT_KINDS = ['outputs', 'resources', 'blocks'] as const;
export type ExtractKind = (typeof EXTRACT_KINDS)[number];

type StoredKind = FileKind | ExtractKind;
export const STORED_KINDS: readonly StoredKind[] = [...FILE_KINDS, ...EXTRACT_KINDS];

/** First segment of the keys of all files of states. */
export const STATE_FILES = 'state-versions';

const toBlobKey = (stateVersion: string, kind: StoredKind): string => `${STATE_FILES}/${stateVersion}/${kind}`;

const CHUNK_BYTES = 256 * 1024;

/** Yields bytes in chunks, because encrypting all of them at once would block the event loop. */
const splitIntoChunks = async function* (bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    if (at > 0) await yieldToOthers();
    yield bytes.subarray(at, at + CHUNK_BYTES);
  }
};

/**
 * The files of state versions, by the id of the version. The log contains no other reference to them. A file is written
 * once before its event, and never replaced.
 */
export class StateFiles {
  constructor(private readonly blobs: BlobStore) {}

  /** Returns false if the file already exists; it is not replaced. */
  async put(stateVersion: string, kind: StoredKind, content: BlobContent): Promise<boolean> {
    try {
      await this.blobs.put(
        toBlobKey(stateVersion, kind),
        content instanceof Uint8Array ? splitIntoChunks(content) : content,
      );
      return true;
    } catch (error) {
      if (error instanceof BlobExistsError) return false;
      throw error;
    }
  }

  get(stateVersion: string, kind: StoredKind, range?: ByteRange): Promise<StoredBlob | null> {
    return this.blobs.get(toBlobKey(stateVersion, kind), range);
  }

  /** Returns the size of a file in bytes; null if it does not exist. */
  async size(stateVersion: string, kind: StoredKind): Promise<number | null> {
    return (await this.blobs.head(toBlobKey(stateVersion, kind)))?.size ?? null;
  }

  async has(stateVersion: string, kind: FileKind): Promise<boolean> {
    return (await this.size(stateVersion, kind)) !== null;
  }

  async remove(stateVersion: string, kinds: readonly StoredKind[] = STORED_KINDS): Promise<void> {
    await Promise.all(kinds.map((kind) => this.blobs.delete(toBlobKey(stateVersion, kind))));
  }

  /**
   * Returns the state in a buffer of its own, which can be transferred to a thread. The buffer is filled as the bytes
   * arrive, because copying a large one takes long.
   */
  async bytes(stateVersion: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const blob = await this.get(stateVersion, 'state');
    if (!blob) return null;
    const bytes = new Uint8Array(blob.size);
    let at = 0;
    for await (const piece of blob.content) {
      bytes.set(piece as Uint8Array, at);
      at += (piece as Uint8Array).length;
    }
    return bytes;
  }

  /** Returns the SHA-256 of a file; null if it does not exist. */
  async digest(stateVersion: string, kind: FileKind): Promise<Buffer | null> {
    const blob = await this.get(stateVersion, kind);
    return blob && computeDigest(blob.content);
  }

  /** Returns content that opens the file when it is read; null if the file does not exist. */
  async content(stateVersion: string, kind: FileKind): Promise<BlobContent | null> {
    return (await this.has(stateVersion, kind)) ? this.opened(stateVersion, kind) : null;
  }

  private async *opened(stateVersion: string, kind: FileKind): AsyncGenerator<Uint8Array> {
    const blob = await this.get(stateVersion, kind);
    if (!blob) throw conflict('The file has just been deleted');
    yield* blob.content as AsyncIterable<Uint8Array>;
  }
}
