import { Logger } from '@nestjs/common';
import {
  BlobExistsError,
  type BlobContent,
  type BlobStore,
  type ByteRange,
  type StoredBlob,
} from '#storage/blob-store';
import { Refusal, unavailable } from '#platform/kernel';

/** First segment of the keys of all files of modules. */
export const MODULE_FILES = 'registry-modules';

/** A killed process can leave a file that no event names. Another upload takes the next number. */
const MAX_ARCHIVES = 8;
const NUMBERS = Array.from({ length: MAX_ARCHIVES }, (_, index) => index + 1);

const toArchiveKey = (versionId: string, archive: number): string => `${MODULE_FILES}/${versionId}/archive-${archive}`;

/** The archives of versions by number. They are encrypted, because the code of private modules is not public. */
export class ModuleFiles {
  private readonly logger = new Logger('ModuleFiles');

  constructor(private readonly blobs: BlobStore) {}

  /** Returns false if there is a file with this number. Rethrows refusals of the content, which is then not stored. */
  async put(versionId: string, archive: number, content: BlobContent): Promise<boolean> {
    try {
      await this.blobs.put(toArchiveKey(versionId, archive), content);
      return true;
    } catch (error) {
      if (error instanceof BlobExistsError) return false;
      if (error instanceof Refusal) throw error;
      this.logger.error(error);
      throw unavailable('The file cannot be stored at the moment. Please try again.', 1);
    }
  }

  get(versionId: string, archive: number, range?: ByteRange): Promise<StoredBlob | null> {
    return this.blobs.get(toArchiveKey(versionId, archive), range);
  }

  async size(versionId: string, archive: number): Promise<number | null> {
    return (await this.blobs.head(toArchiveKey(versionId, archive)))?.size ?? null;
  }

  /** Returns the lowest number without a file; null if there is none. */
  async findFreeNumber(versionId: string): Promise<number | null> {
    for (const number of NUMBERS) if ((await this.size(versionId, number)) === null) return number;
    return null;
  }

  removeOne(versionId: string, archive: number): Promise<void> {
    return this.blobs.delete(toArchiveKey(versionId, archive));
  }

  async removeAll(versionId: string): Promise<void> {
    await Promise.all(NUMBERS.map((number) => this.removeOne(versionId, number)));
  }
}
