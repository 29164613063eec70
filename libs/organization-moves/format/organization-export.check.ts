import { checkFiles, type BackupArchive, type BackupControl } from '#backup';
import type { OrganizationManifest } from './organization-export.manifest.js';

/** Reads every file of an export. Rejects with DamagedBackupError if one is missing or was changed. */
export const checkOrganizationExport = async (
  archive: BackupArchive,
  { snapshot, events }: OrganizationManifest,
  control: BackupControl = {},
): Promise<void> => {
  const parts = [...snapshot.tables.flatMap((table) => table.parts), ...events];
  for (const [index, part] of parts.entries()) {
    control.signal?.throwIfAborted();
    control.report?.('parts checked', index, parts.length);
    await archive.readLines(part);
  }
  let files = 0;
  const onFile = (): void => control.report?.('files checked', (files += 1), snapshot.files.count);
  for (const part of snapshot.files.parts) await checkFiles(archive, part, onFile, control);
};
