import { BlobExists, digestOf, type BlobContent, type BlobStore, type StoredBlob } from '#blob-store';

const keyOf = (id: string): string => `configuration-versions/${id}/archive`;

/** The archives of configuration versions, by the version's id. Written once, before any event says so. */
export class ConfigurationFiles {
  constructor(private readonly blobs: BlobStore) {}

  /** False where there is one already; that one stays. */
  async put(id: string, content: BlobContent): Promise<boolean> {
    try {
      await this.blobs.put(keyOf(id), content);
      return true;
    } catch (error) {
      if (error instanceof BlobExists) return false;
      throw error;
    }
  }

  get(id: string): Promise<StoredBlob | null> {
    return this.blobs.get(keyOf(id));
  }

  async size(id: string): Promise<number | null> {
    return (await this.blobs.head(keyOf(id)))?.size ?? null;
  }

  /** SHA-256 of an archive; null where there is none. */
  async digest(id: string): Promise<Buffer | null> {
    const found = await this.get(id);
    return found && digestOf(found.content);
  }

  remove(id: string): Promise<void> {
    return this.blobs.delete(keyOf(id));
  }
}
