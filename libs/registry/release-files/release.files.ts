import { Logger } from '@nestjs/common';
import {
  BlobExistsError,
  readBytes,
  type BlobContent,
  type BlobStore,
  type ByteRange,
  type StoredBlob,
} from '#blob-store';
import { conflict, Refusal, unavailable } from '#kernel';
import type { ReleaseFile } from './release.links.js';

/**
 * The id of a file among all files of releases. That of checksums or a signature holds its own SHA-256, and the zip of a
 * platform can have no other than the platform's: under one id there is never but one content.
 */
export const deriveFileId = (file: ReleaseFile, sha256: string): string =>
  file.kind === 'binary' ? file.platform : `${file.version}/${sha256}`;

const toBlobKey = (id: string): string => `registry/${id}`;

/** The files of releases by their ids, as they came: encryption at rest is the store's (docs/explanation/adr/0022). */
export class ReleaseFiles {
  private readonly logger = new Logger('ReleaseFiles');

  constructor(private readonly blobs: BlobStore) {}

  /** Where there is one already, it is the same. Throws what the content broke by, and `unavailable` for the store's faults. */
  async put(id: string, content: BlobContent): Promise<void> {
    try {
      await this.blobs.put(toBlobKey(id), content);
    } catch (error) {
      if (error instanceof BlobExistsError) return;
      if (error instanceof Refusal) throw error;
      // A full disk, or one that is away: it wants an operator, and the same upload may succeed after that.
      this.logger.error(error);
      throw unavailable('The file cannot be stored at the moment. Please try again.', 1);
    }
  }

  get(id: string, range?: ByteRange): Promise<StoredBlob | null> {
    return this.blobs.get(toBlobKey(id), range);
  }

  /** All of a small one. */
  async bytes(id: string): Promise<Buffer> {
    const found = await this.get(id);
    if (!found) throw conflict('A file of this version has just been deleted');
    return readBytes(found.content);
  }

  async size(id: string): Promise<number | null> {
    return (await this.blobs.head(toBlobKey(id)))?.size ?? null;
  }

  remove(id: string): Promise<void> {
    return this.blobs.delete(toBlobKey(id));
  }
}
