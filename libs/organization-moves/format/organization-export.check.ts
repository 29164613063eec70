import { checkArchive, type BackupArchive, type BackupControl } from '#backup';
import type { OrganizationManifest } from './organization-export.manifest.js';

/** Reads every file of an export: see checkArchive. */
export const checkOrganizationExport = (
  archive: BackupArchive,
  { snapshot, events }: OrganizationManifest,
  control: BackupControl = {},
): Promise<void> => {
  const parts = [...snapshot.tables.flatMap((table) => table.parts), ...events];
  return checkArchive(archive, { parts, files: snapshot.files }, control);
};
