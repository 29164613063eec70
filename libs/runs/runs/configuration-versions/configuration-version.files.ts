import { BlobExistsError, computeDigest, type BlobContent, type BlobStore, type StoredBlob } from '#storage/blob-store';

const MAX_ARCHIVES = 8;

const NUMBERS = Array.from({ length: MAX_ARCHIVES }, (_, n) => n + 1);

/** First segment of the keys of all archives of configuration versions. */
export const CONFIGURATION_FILES = 'configuration-versions';

const toBlobKey = (id: string, archive: number): string =>
  `${CONFIGURATION_FILES}/${id}/archive${archive === 1 ? '' : `-${archive}`}`;

export class ConfigurationFiles {
  constructor(private readonly blobs: BlobStore) {}

  async put(id: string, archive: number, content: BlobContent): Promise<boolean> {
    try {
      await this.blobs.put(toBlobKey(id, archive), content);
      return true;
    } catch (error) {
      if (error instanceof BlobExistsError) return false;
      throw error;
    }
  }

  get(id: string, archive: number): Promise<StoredBlob | null> {
    return this.blobs.get(toBlobKey(id, archive));
  }

  async size(id: string, archive: number): Promise<number | null> {
    return (await this.blobs.head(toBlobKey(id, archive)))?.size ?? null;
  }

  async digest(id: string, archive: number): Promise<Buffer | null> {
    const file = await this.get(id, archive);
    return file && computeDigest(file.content);
  }

  async free(id: string, archive: number): Promise<number | null> {
    for (const number of NUMBERS.slice(archive)) {
      if ((await this.size(id, number)) === null) return number;
    }
    return null;
  }

  async remove(id: string): Promise<void> {
    await this.removeBefore(id, MAX_ARCHIVES + 1);
  }

  async removeBefore(id: string, archive: number): Promise<void> {
    await Promise.all(NUMBERS.slice(0, archive - 1).map((number) => this.blobs.delete(toBlobKey(id, number))));
  }
}
