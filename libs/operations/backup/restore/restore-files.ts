import type { BlobStore } from '#storage/blob-store';
import { StartupError } from '#platform/host';
import type { BackupArchive } from '../format/backup-archive.js';
import { backedUpFile, type BackupPart } from '../format/backup-manifest.js';
import { forEachConcurrently, type BackupControl } from '../progress.js';

type ListedFile = { readonly key: string; readonly size: number };

const readList = async function* (archive: BackupArchive, part: BackupPart): AsyncGenerator<ListedFile> {
  for (const line of await archive.readLines(part)) yield backedUpFile.parse(JSON.parse(line));
};

/** Copies the files of a list to the file store. Files that are there already are not copied again. */
export const restoreFiles = (
  archive: BackupArchive,
  blobs: BlobStore,
  part: BackupPart,
  onFile: () => void,
  control: BackupControl,
): Promise<void> =>
  forEachConcurrently(
    readList(archive, part),
    async ({ key, size }) => {
      const stored = await blobs.head(key);
      if (stored && stored.size !== size) {
        throw new StartupError(
          `the file store contains another file named ${key}; name an empty folder (CADASTRE_BLOBS) or prefix (CADASTRE_S3_PREFIX)`,
        );
      }
      if (!stored) await blobs.put(key, await archive.readFile(key));
      onFile();
    },
    control,
  );

/** Reads the files of a list completely, and rejects if one is missing or was changed. */
export const checkFiles = (
  archive: BackupArchive,
  part: BackupPart,
  onFile: () => void,
  control: BackupControl,
): Promise<void> =>
  forEachConcurrently(
    readList(archive, part),
    async ({ key }) => {
      // The reader checks each piece.
      for await (const _ of await archive.readFile(key));
      onFile();
    },
    control,
  );
