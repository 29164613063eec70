import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { conflict } from '#kernel';
import {
  BlobExistsError,
  computeDigest,
  type BlobContent,
  type BlobStore,
  type ByteRange,
  type StoredBlob,
} from '#blob-store';

/** The state as Terraform wrote it, and the same in the documented JSON format (`terraform show -json`). */
export const FILE_KINDS = ['state', 'json-state'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** The files that are extracted from the state once (state-extract.ts). Clients cannot upload or download them. */
export const EXTRACT_KINDS = ['outputs', 'resources', 'blocks'] as const;
export type ExtractKind = (typeof EXTRACT_KINDS)[number];

type StoredKind = FileKind | ExtractKind;
const STORED_KINDS: readonly StoredKind[] = [...FILE_KINDS, ...EXTRACT_KINDS];

const toBlobKey = (stateVersion: string, kind: StoredKind): string => `state-versions/${stateVersion}/${kind}`;

const CHUNK_BYTES = 256 * 1024;

/** Bytes are encrypted as they are read. Encrypting all of them at once would block the event loop. */
const splitIntoChunks = async function* (bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    if (at > 0) await yieldToOthers();
    yield bytes.subarray(at, at + CHUNK_BYTES);
  }
};

/**
 * The files of state versions, by the version's id: the log holds no reference to them but that. A file is written once
 * and never replaced, and lies here before any event says so.
 */
export class StateFiles {
  constructor(private readonly blobs: BlobStore) {}

  /** False where there is one already; that one stays. */
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

  /** Bytes of a file; null where there is none. */
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
   * The state in memory of its own, which can be handed to a thread. It is filled as the bytes arrive, because one large copy
   * takes long.
   */
  async bytes(stateVersion: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const found = await this.get(stateVersion, 'state');
    if (!found) return null;
    const bytes = new Uint8Array(found.size);
    let at = 0;
    for await (const piece of found.content) {
      bytes.set(piece as Uint8Array, at);
      at += (piece as Uint8Array).length;
    }
    return bytes;
  }

  /** SHA-256 of a file; null where there is none. */
  async digest(stateVersion: string, kind: FileKind): Promise<Buffer | null> {
    const found = await this.get(stateVersion, kind);
    return found && computeDigest(found.content);
  }

  /** Opened when it is read, not before; null where there is no such file. */
  async content(stateVersion: string, kind: FileKind): Promise<BlobContent | null> {
    return (await this.has(stateVersion, kind)) ? this.opened(stateVersion, kind) : null;
  }

  private async *opened(stateVersion: string, kind: FileKind): AsyncGenerator<Uint8Array> {
    const found = await this.get(stateVersion, kind);
    if (!found) throw conflict('The file has just been deleted');
    yield* found.content as AsyncIterable<Uint8Array>;
  }
}
