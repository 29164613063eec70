export { EventStoreModule, type EventStoreOptions } from './event-store.module.js';
export { EventStore } from './event-store.js';
export {
  MAX_LOG_CHANGES,
  selectLogChanges,
  selectViewExchanges,
  selectViewsState,
  type LogChange,
} from './barrier/log-changes.queries.js';
export { AggregateCommand, AggregateHandler, type Operation, type OperationTable } from './aggregate.commands.js';
export {
  getFirstRow,
  getFirstRowOrNull,
  lockStream,
  raiseConflictWhen,
  newStream,
  expectVersion,
  decideWrite,
  type AppendResult,
  type ExpectedVersion,
  type LoadedStream,
  type IdempotentWrite,
  type StreamSnapshot,
  type StreamWrite,
} from './writes.js';
export { DurableRowError, type Follower, type TableIndexes } from './followers/follower.js';
export { readLags } from './followers/follower-lag.js';
export { waitForFollower, type AwaitedEvents } from './followers/wait-for-follower.js';
export { EVENT_CONTEXT, IS_SETTLED, type OrganizationExtent } from './log-queries.js';
export { LogWatch, type RoundResult } from './followers/log-watch.js';
export { requireOpenSession } from './followers/shared-session.js';
export { FollowerRunner } from './followers/follower-runner.js';
export { isAheadOfCluster, readFollowerStates, type FollowerState } from './followers/follower-states.js';
export { listEncryptedColumns, MissingPreviousKeyError, WrongEncryptionKeyError } from './keys/encryption-key.js';
export type { EncryptedColumn } from './keys/encrypted-column.js';
export {
  completeRotation,
  countKeyUses,
  formatConnectionKeys,
  type KeyUse,
  listUnpreparedProcesses,
  readRotationState,
  readStoredKeys,
  reencryptColumn,
  type RotationState,
  storeMacKey,
  switchWritingKey,
  tryRotationLock,
  watchWritingKey,
} from './keys/key-rotation.js';
export {
  adoptEncryptionKeys,
  inspectDatabase,
  migrate,
  MissingSiteError,
  OLDEST_POSTGRES,
  UnsupportedPostgresError,
  type DatabaseState,
  type MigrationResult,
} from './migrations/migrate.js';
export { createLogFormatJob } from './migrations/log-format.job.js';
export { selectCheckpoints, writeCheckpoint, type FollowerPosition } from './followers/checkpoints.js';
export { findEarliest, isAfter, LOG_START, toPosition } from './log-positions.js';
export { ForeignMigrations } from './migrations/migration-order.js';
export { EventImport, type ImportCollision, type ImportedEvent } from './import/event-import.js';
export { appendInBulk, type BulkWrite } from './bulk/bulk-append.js';
export { rebuildView, type RebuildOptions, type RebuildResult } from './rebuild/rebuild.js';
export { verifyView, withVerifier, type ViewDifference } from './rebuild/verify.js';
export { createViewUpgradeJob } from './rebuild/view-upgrade.job.js';
export {
  buildWriterRegistration,
  listDifferentVersions,
  recordCompleteViews,
  selectIsEarlierView,
  type ViewVersionState,
} from './rebuild/view-versions.js';
export { listViews, type RebuildableView } from './rebuild/views.js';
export { verifySnapshots } from './rebuild/verify-snapshots.js';
export { selectStreamVersions, selectSnapshotJson, buildSnapshotJson, type StreamVersion } from './streams.js';
export {
  defineAggregate,
  toProjection,
  buildEventRegistry,
  type Aggregate,
  type ModuleDefinition,
  type TableOutsideLog,
} from './module-definition.js';
