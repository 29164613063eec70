import { conflict, notFound } from '#kernel';
import { BlobExists, bytesOf, digestOf, type BlobContent, type BlobStore, type StoredBlob } from '#blob-store';
import { parseStateFile, type StateFile } from './state-file.js';

/** The state as Terraform wrote it, and the same in the documented JSON format (`terraform show -json`). */
export const FILE_KINDS = ['state', 'json-state'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

const keyOf = (stateVersion: string, kind: FileKind): string => `state-versions/${stateVersion}/${kind}`;

/**
 * The files of state versions, by the version's id: the log holds no reference to them but that. A file is written once
 * and never replaced, and lies here before any event says so.
 */
export class StateFiles {
  constructor(private readonly blobs: BlobStore) {}

  /** False where there is one already; that one stays. */
  async put(stateVersion: string, kind: FileKind, content: BlobContent): Promise<boolean> {
    try {
      await this.blobs.put(keyOf(stateVersion, kind), content);
      return true;
    } catch (error) {
      if (error instanceof BlobExists) return false;
      throw error;
    }
  }

  get(stateVersion: string, kind: FileKind): Promise<StoredBlob | null> {
    return this.blobs.get(keyOf(stateVersion, kind));
  }

  async has(stateVersion: string, kind: FileKind): Promise<boolean> {
    return (await this.blobs.head(keyOf(stateVersion, kind))) !== null;
  }

  async remove(stateVersion: string, kinds: readonly FileKind[] = FILE_KINDS): Promise<void> {
    await Promise.all(kinds.map((kind) => this.blobs.delete(keyOf(stateVersion, kind))));
  }

  async bytes(stateVersion: string): Promise<Buffer | null> {
    const found = await this.get(stateVersion, 'state');
    return found && bytesOf(found.content);
  }

  /** SHA-256 of a file; null where there is none. */
  async digest(stateVersion: string, kind: FileKind): Promise<Buffer | null> {
    const found = await this.get(stateVersion, kind);
    return found && digestOf(found.content);
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

  /** The state of a finalized version. Throws `not-found` where its file is gone: a store was restored without it. */
  async read(stateVersion: string): Promise<StateFile> {
    const bytes = await this.bytes(stateVersion);
    if (!bytes) throw notFound(`The file of state version ${stateVersion} is not in the blob store`);
    return parseStateFile(bytes);
  }

  /** Real values of a finalized version's outputs, by name. They are kept nowhere else. */
  async outputValues(stateVersion: string): Promise<ReadonlyMap<string, unknown>> {
    const { outputs } = await this.read(stateVersion);
    return new Map(outputs.map(({ name, value }) => [name, value]));
  }
}
