export { backupDefinition } from './backup.definition.js';
export { allowDeletions, createDeferredDeletionsJob, deferDeletions, DeferringBlobs } from './deferred-deletions.js';
export {
  createArchive,
  formatPartName,
  openArchive,
  ORGANIZATION_EXPORT,
  type BackupArchive,
} from './format/backup-archive.js';
export { parseBackupKey } from './format/backup-keys.js';
export { parseBackupLocation, type BackupLocation } from './format/backup-location.js';
export {
  backupPart,
  tableExport,
  type BackupManifest,
  type BackupPart,
  type TableExport,
} from './format/backup-manifest.js';
export { readMigrationNames, requireMigrations } from './migrations.queries.js';
export { forEachConcurrently, type BackupControl } from './progress.js';
export { preventRotation } from './rotation-lock.js';
export { checkArchive, checkBackup } from './restore/check-backup.js';
export { restoreBackup, type RestoredSite } from './restore/restore-backup.js';
export type { RestoreCut, RestoreTarget } from './restore/restore-cut.js';
export { insertRows } from './restore/restore-log.queries.js';
export { findCutIn } from './restore/restore-log.js';
export { findUnfinishedRestore } from './restore/restore-state.js';
export { listStoredTables } from './stored-tables.js';
export { readManifest, writeBackup } from './write/write-backup.js';
export type { BackedUpSite } from './write/backup-snapshot.js';
