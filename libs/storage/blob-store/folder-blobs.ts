import { randomUUID } from 'node:crypto';
import { existsSync, renameSync } from 'node:fs';
import { link, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { getErrorCode, unavailable, type Clock } from '#platform/kernel';
import { clampRange, type ByteRange } from './byte-range.js';
import {
  BlobExistsError,
  BlobStore,
  checkBlobKey,
  type BlobContent,
  type ListedBlob,
  type StoredBlob,
} from './blob-store.js';

// No blob has this key: segments of keys do not begin with a dot.
const DRAFTS = '.drafts';
const ABANDONED_AFTER = 24 * 60 * 60 * 1000;

/** Returns null if the file does not exist. ENOTDIR means that a file has the name of a folder in the path. */
const ignoreMissing = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT' || getErrorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
};

/** The disk is full, or a quota is exhausted. */
const FULL = ['ENOSPC', 'EDQUOT'];

const FULL_RETRY_SECONDS = 60;

/** Reports a full disk as an outage: requests and scheduled jobs may succeed when space is free again. */
const toStoreError = (error: unknown): unknown =>
  FULL.includes(getErrorCode(error) ?? '')
    ? unavailable(
        'The disk of the file store is full. Try again when the operator has freed space.',
        FULL_RETRY_SECONDS,
      )
    : error;

const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/**
 * Stores blobs as files in a folder, which several processes may share.
 *
 * A blob is written to a draft and synced, then gets its name with `link`. Unlike `rename`, `link` fails if the name is
 * taken, so exactly one of two writers wins. (The file system must support hard links.) Then the folders are synced,
 * because otherwise the name could be lost in a power cut. A killed process may leave a draft. The first `put` of a
 * later process removes drafts that were last written more than a day ago.
 */
export class FolderBlobs extends BlobStore {
  private prepared: Promise<void> | null = null;

  constructor(
    private readonly folder: string,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async put(key: string, content: BlobContent): Promise<void> {
    const file = this.fileOf(key);
    try {
      await this.prepare();
      await this.store(file, key, content);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  override async get(key: string, range?: ByteRange): Promise<StoredBlob | null> {
    const handle = await ignoreMissing(open(this.fileOf(key), 'r'));
    if (!handle) return null;
    try {
      const stats = await handle.stat();
      // A folder is the beginning of longer keys, not a blob.
      if (stats.isFile()) {
        return { size: stats.size, content: handle.createReadStream(range && clampRange(range, stats.size)) };
      }
    } catch (error) {
      await handle.close();
      throw error;
    }
    await handle.close();
    return null;
  }

  override async head(key: string): Promise<{ readonly size: number } | null> {
    const stats = await ignoreMissing(stat(this.fileOf(key)));
    return stats?.isFile() ? { size: stats.size } : null;
  }

  override async delete(key: string): Promise<void> {
    await ignoreMissing(rm(this.fileOf(key)));
  }

  override async *list(segments?: string): AsyncGenerator<ListedBlob> {
    yield* this.listFolder(segments === undefined ? '' : checkBlobKey(segments));
  }

  private async *listFolder(segments: string): AsyncGenerator<ListedBlob> {
    const folder = join(this.folder, ...segments.split('/'));
    const entries = await ignoreMissing(readdir(folder, { withFileTypes: true }));
    for (const entry of entries ?? []) {
      // Drafts are no blobs.
      if (entry.name.startsWith('.')) continue;
      const key = segments === '' ? entry.name : `${segments}/${entry.name}`;
      if (entry.isDirectory()) yield* this.listFolder(key);
      else {
        const stats = await ignoreMissing(stat(join(folder, entry.name)));
        if (stats) yield { key, size: stats.size };
      }
    }
  }

  override async replace(key: string, content: BlobContent): Promise<boolean> {
    const file = this.fileOf(key);
    const draft = join(this.folder, DRAFTS, randomUUID());
    try {
      await this.prepare();
      await write(draft, content);
      // Both at once: a file that is deleted in between would return.
      if (!existsSync(file)) return false;
      renameSync(draft, file);
      await syncFolder(dirname(file));
      return true;
    } catch (error) {
      throw toStoreError(error);
    } finally {
      await rm(draft, { force: true });
    }
  }

  private fileOf(key: string): string {
    return join(this.folder, ...checkBlobKey(key).split('/'));
  }

  private async store(file: string, key: string, content: BlobContent): Promise<void> {
    const draft = join(this.folder, DRAFTS, randomUUID());
    try {
      await write(draft, content);
      await this.publish(draft, file, key);
    } finally {
      await rm(draft, { force: true });
    }
  }

  private prepare(): Promise<void> {
    this.prepared ??= this.removeAbandonedDrafts().catch((error: unknown) => {
      this.prepared = null;
      throw error;
    });
    return this.prepared;
  }

  private async removeAbandonedDrafts(): Promise<void> {
    const drafts = join(this.folder, DRAFTS);
    await mkdir(drafts, { recursive: true, mode: 0o700 });
    for (const name of await readdir(drafts)) {
      const draft = join(drafts, name);
      const stats = await ignoreMissing(stat(draft));
      if (stats && this.clock.now().getTime() - stats.mtimeMs > ABANDONED_AFTER) await rm(draft, { force: true });
    }
  }

  private async publish(draft: string, file: string, key: string): Promise<void> {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    try {
      await link(draft, file);
    } catch (error) {
      if (getErrorCode(error) === 'EEXIST') throw new BlobExistsError(key);
      throw error;
    }
    // All folders up to the root: another writer may have created them without syncing them yet.
    const steps = relative(this.folder, dirname(file))
      .split(sep)
      .filter((step) => step !== '');
    for (let depth = steps.length; depth >= 0; depth -= 1) {
      await syncFolder(join(this.folder, ...steps.slice(0, depth)));
    }
  }
}

const write = async (draft: string, content: BlobContent): Promise<void> => {
  const handle = await open(draft, 'wx', 0o600);
  // The stream closes the handle at the end and if either side fails; `flush` syncs the file before.
  const target = handle.createWriteStream({ flush: true });
  await pipeline(content instanceof Uint8Array ? Readable.from([content]) : content, target);
};
