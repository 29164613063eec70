import { readBytes, type BlobStore } from '#storage/blob-store';
import { parseCheckpoint, splitNote, type LogCheckpoint } from '#packages/trail-verifier';

/** First segment of the keys of files that no backup contains: a restore must not replace them with earlier ones. */
export const PUBLISHED_CHECKPOINT_FILES = 'trail-checkpoints';

/**
 * The last checkpoint of each log, in the file store: a guard against a database that was restored from an older backup.
 * Each is written before the database contains it, and so before anybody can read it.
 */
export class PublishedCheckpoints {
  constructor(private readonly blobs: BlobStore) {}

  async find(organization: string): Promise<LogCheckpoint | null> {
    const file = await this.blobs.get(toFile(organization));
    if (!file) return null;
    const note = (await readBytes(file.content)).toString('utf8');
    try {
      return parseCheckpoint(splitNote(note).text);
    } catch (cause) {
      throw new Error(`the file ${toFile(organization)} in the file store is no checkpoint; restore it from a copy`, {
        cause,
      });
    }
  }

  async delete(organization: string): Promise<void> {
    await this.blobs.delete(toFile(organization));
  }

  async write(organization: string, note: string): Promise<void> {
    const file = toFile(organization);
    const content = Buffer.from(note);
    if (!(await this.blobs.replace(file, content))) await this.blobs.put(file, content);
  }
}

const toFile = (organization: string): string => `${PUBLISHED_CHECKPOINT_FILES}/${organization}`;
