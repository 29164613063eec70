import type { BackupArchive } from '../format/backup-archive.js';
import type { BackupManifest, BackupPart, BackupSnapshot } from '../format/backup-manifest.js';
import type { BackupControl } from '../progress.js';
import { checkFiles } from './restore-files.js';

/** Reads the parts and all listed files. Rejects with DamagedBackupError if one is missing or was changed. */
export const checkArchive = async (
  archive: BackupArchive,
  { parts, files }: { readonly parts: readonly BackupPart[]; readonly files: BackupSnapshot['files'] },
  control: BackupControl,
): Promise<void> => {
  for (const [index, part] of parts.entries()) {
    control.signal?.throwIfAborted();
    control.report?.('parts checked', index, parts.length);
    await archive.readLines(part);
  }
  let checked = 0;
  const onFile = (): void => control.report?.('files checked', (checked += 1), files.count);
  for (const part of files.parts) await checkFiles(archive, part, onFile, control);
};

/** Reads every file of a backup: see checkArchive. */
export const checkBackup = (
  archive: BackupArchive,
  { snapshot, log }: BackupManifest,
  control: BackupControl = {},
): Promise<void> => {
  const parts = [...snapshot.tables.flatMap((table) => table.parts), ...log];
  return checkArchive(archive, { parts, files: snapshot.files }, control);
};
