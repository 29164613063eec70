import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { getErrorCode, unavailable, type Clock } from '#kernel';
import { clampRange, type ByteRange } from './byte-range.js';
import { BlobExistsError, BlobStore, checkBlobKey, type BlobContent, type StoredBlob } from './blob-store.js';

// No key can name it: segments of keys do not begin with a dot.
const DRAFTS = '.drafts';
const ABANDONED_AFTER = 24 * 60 * 60 * 1000;

/** Null where there is no such file; ENOTDIR is a key below another key. */
const ignoreMissing = async <T>(work: Promise<T>): Promise<T | null> => {
  try {
    return await work;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT' || getErrorCode(error) === 'ENOTDIR') return null;
    throw error;
  }
};

/** No space on the disk, or none left of a quota. */
const FULL = ['ENOSPC', 'EDQUOT'];

const FULL_RETRY_SECONDS = 60;

/** Requests and scheduled jobs may succeed once there is space again: a full disk is an outage. */
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
 * Blobs as files below a folder, which several processes may share.
 *
 * A blob is written beside its place and synced, then given its name by `link`: unlike `rename`, that fails where the
 * name is taken, so of two writers exactly one wins. (The file system must have hard links.) Then the folders are
 * synced, else the name itself could be gone after a power cut. A killed process may leave a draft; the first `put` of
 * a later one removes those that nobody has written to for a day.
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
      const found = await handle.stat();
      // A folder is the beginning of longer keys, not a blob.
      if (found.isFile()) {
        return { size: found.size, content: handle.createReadStream(range && clampRange(range, found.size)) };
      }
    } catch (error) {
      await handle.close();
      throw error;
    }
    await handle.close();
    return null;
  }

  override async head(key: string): Promise<{ readonly size: number } | null> {
    const found = await ignoreMissing(stat(this.fileOf(key)));
    return found?.isFile() ? { size: found.size } : null;
  }

  override async delete(key: string): Promise<void> {
    await ignoreMissing(rm(this.fileOf(key)));
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
      const found = await ignoreMissing(stat(draft));
      if (found && this.clock.now().getTime() - found.mtimeMs > ABANDONED_AFTER) await rm(draft, { force: true });
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
    // All the way up: another writer may have made these folders a moment ago and not have synced them yet.
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
  // Closes the handle at the end, and when either side fails; `flush` syncs the file before it does.
  const target = handle.createWriteStream({ flush: true });
  await pipeline(content instanceof Uint8Array ? Readable.from([content]) : content, target);
};
