import { Logger } from '@nestjs/common';
import {
  BlobExistsError,
  readBytes,
  type BlobContent,
  type BlobStore,
  type ByteRange,
  type StoredBlob,
} from '#storage/blob-store';
import { conflict, Refusal, unavailable } from '#platform/kernel';
import type { ReleaseFile } from './release.links.js';

/**
 * Returns the id of a file among all files of releases. The id of SHA256SUMS or a signature contains its own SHA-256,
 * and the zip of a platform must have the declared checksum. So an id never has two different contents.
 */
export const deriveFileId = (file: ReleaseFile, sha256: string): string =>
  file.kind === 'binary' ? file.platform : `${file.version}/${sha256}`;

/** First segment of the keys of all files of releases. */
export const RELEASE_FILES = 'registry';

const toBlobKey = (id: string): string => `${RELEASE_FILES}/${id}`;

/**
 * Stores the files of releases by id, as received. Encryption at rest is left to the store (docs/explanation/adr/0022).
 */
export class ReleaseFiles {
  private readonly logger = new Logger('ReleaseFiles');

  constructor(private readonly blobs: BlobStore) {}

  /**
   * Does nothing if the file already exists, because its content is the same. Rethrows refusals of the content; for
   * faults of the store it throws `unavailable`.
   */
  async put(id: string, content: BlobContent): Promise<void> {
    try {
      await this.blobs.put(toBlobKey(id), content);
    } catch (error) {
      if (error instanceof BlobExistsError) return;
      if (error instanceof Refusal) throw error;
      // For example a full or missing disk. An operator must repair it; after that the same upload can succeed.
      this.logger.error(error);
      throw unavailable('The file cannot be stored at the moment. Please try again.', 1);
    }
  }

  get(id: string, range?: ByteRange): Promise<StoredBlob | null> {
    return this.blobs.get(toBlobKey(id), range);
  }

  async bytes(id: string): Promise<Buffer> {
    const blob = await this.get(id);
    if (!blob) throw conflict('A file of this version has just been deleted');
    return readBytes(blob.content);
  }

  async size(id: string): Promise<number | null> {
    return (await this.blobs.head(toBlobKey(id)))?.size ?? null;
  }

  remove(id: string): Promise<void> {
    return this.blobs.delete(toBlobKey(id));
  }
}
