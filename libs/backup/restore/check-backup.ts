import type { BackupArchive } from '../format/backup-archive.js';
import type { BackupManifest } from '../format/backup-manifest.js';
import type { BackupControl } from '../progress.js';
import { checkFiles } from './restore-files.js';

/** Reads every file of a backup. Rejects with DamagedBackupError if one is missing or was changed. */
export const checkBackup = async (
  archive: BackupArchive,
  { snapshot, log }: BackupManifest,
  control: BackupControl = {},
): Promise<void> => {
  const parts = [...snapshot.tables.flatMap((table) => table.parts), ...log, ...snapshot.files.parts];
  for (const [index, part] of parts.entries()) {
    control.signal?.throwIfAborted();
    control.report?.('parts checked', index, parts.length);
    await archive.readLines(part);
  }
  let files = 0;
  const onFile = (): void => control.report?.('files checked', (files += 1), snapshot.files.count);
  for (const part of snapshot.files.parts) await checkFiles(archive, part, onFile, control);
};
