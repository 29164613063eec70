import { PUBLISHED_CHECKPOINT_FILES } from '#activity/audit-trail-log';
import type { BlobStore, ListedBlob } from '#storage/blob-store';
import { formatPartName, type BackupArchive } from '../format/backup-archive.js';
import type { BackupPart, BackupSnapshot } from '../format/backup-manifest.js';
import { forEachConcurrently, type BackupControl } from '../progress.js';

const FILES_IN_PART = 5_000;

/**
 * Copies files to a backup. Files are never changed, so a file that was copied once needs no second copy. The exception are
 * the last published checkpoints, which no backup contains: a restore compares with those that are there.
 */
export class FileExport {
  private readonly copied = new Set<string>();

  constructor(
    private readonly blobs: BlobStore,
    private readonly archive: BackupArchive,
    private readonly control: BackupControl,
  ) {}

  /** Finds the files that an interrupted backup has copied. */
  async resume(): Promise<void> {
    for await (const { key } of this.archive.listFiles()) this.copied.add(key);
  }

  /** Copies all files that are missing in the backup. */
  async copyMissing(): Promise<void> {
    await this.copyAll(() => undefined);
  }

  /** Copies what is missing, and writes the list of the files that exist now to the backup. */
  async copyAndList(folder: string): Promise<BackupSnapshot['files']> {
    const parts: BackupPart[] = [];
    let lines: string[] = [];
    let bytes = 0;
    const putPart = async (): Promise<void> => {
      const full = lines;
      lines = [];
      parts.push(await this.archive.putLines(formatPartName(`${folder}/files`, parts.length + 1), full));
    };
    const list: ListedBlob[] = [];
    await this.copyAll((file) => void list.push(file));
    for (const file of list) {
      bytes += file.size;
      if (lines.push(JSON.stringify(file)) === FILES_IN_PART) await putPart();
    }
    if (lines.length > 0) await putPart();
    return { count: list.length, bytes, parts };
  }

  private async copyAll(onFile: (file: ListedBlob) => void): Promise<void> {
    let done = 0;
    await forEachConcurrently(
      this.blobs.list(),
      async (file) => {
        if (file.key.startsWith(`${PUBLISHED_CHECKPOINT_FILES}/`)) return;
        if (await this.copy(file.key)) onFile(file);
        this.control.report?.('files', (done += 1), null);
      },
      this.control,
    );
  }

  /** Returns false if the file was deleted after it was listed. */
  private async copy(key: string): Promise<boolean> {
    if (this.copied.has(key)) return true;
    const file = await this.blobs.get(key);
    if (!file) return false;
    await this.archive.putFile(key, file.content as AsyncIterable<Uint8Array>);
    this.copied.add(key);
    return true;
  }
}
