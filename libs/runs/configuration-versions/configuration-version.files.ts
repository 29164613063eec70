import { BlobExistsError, computeDigest, type BlobContent, type BlobStore, type StoredBlob } from '#blob-store';

/**
 * The largest number of archives of one version, interrupted uploads included. A deletion removes all possible names,
 * so it needs no list of the files.
 */
const MAX_ARCHIVES = 8;

const NUMBERS = Array.from({ length: MAX_ARCHIVES }, (_, n) => n + 1);

const toBlobKey = (id: string, archive: number): string =>
  `configuration-versions/${id}/archive${archive === 1 ? '' : `-${archive}`}`;

/**
 * The archives of configuration versions, by the version's id and a number from 1. Each is written once, before an event
 * names it. Numbers only rise: what an event no longer names is deleted, and its number is never named again.
 */
export class ConfigurationFiles {
  constructor(private readonly blobs: BlobStore) {}

  /** False if there is an archive with this number already; that one stays. */
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

  /** SHA-256 of an archive; null where there is none. */
  async digest(id: string, archive: number): Promise<Buffer | null> {
    const found = await this.get(id, archive);
    return found && computeDigest(found.content);
  }

  /** The lowest number above `archive` that has no file; null if all are taken. */
  async free(id: string, archive: number): Promise<number | null> {
    for (const number of NUMBERS.slice(archive)) {
      if ((await this.size(id, number)) === null) return number;
    }
    return null;
  }

  async remove(id: string): Promise<void> {
    await this.removeBefore(id, MAX_ARCHIVES + 1);
  }

  /** Deletes the archives with lower numbers. */
  async removeBefore(id: string, archive: number): Promise<void> {
    await Promise.all(NUMBERS.slice(0, archive - 1).map((number) => this.blobs.delete(toBlobKey(id, number))));
  }
}
