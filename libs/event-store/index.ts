export { EventStoreModule, type EventStoreOptions } from './event-store.module.js';
export { Database, type DatabaseOptions, type DatabaseSession, type StatementCounter } from './database.js';
export type { DatabaseRow } from './row.js';
export { Envelope } from './envelope.js';
export { EventStore } from './event-store.js';
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
export { ScheduledJobRunner, type ScheduledJob, type JobRun } from './chore-runner.js';
export { waitForFollower, isAheadOfCluster, type AwaitedEvents, type Follower } from './follower.js';
export { createNameErasureJob, NameEraser } from './forgetting.js';
export { FollowerRunner } from './follower-runner.js';
export { readFollowerStates, type FollowerState } from './follower-states.js';
export { computeKeyFingerprint, WrongEncryptionKeyError } from './encryption-key.js';
export type { EncryptedColumn } from './encrypted-column.js';
export {
  inspectDatabase,
  migrate,
  MissingSiteError,
  OLDEST_POSTGRES,
  UnsupportedPostgresError,
  type DatabaseState,
  type MigrationResult,
} from './migrate.js';
export { ForeignMigrations } from './migration-order.js';
export { getViolatedConstraint, isOutage, isUnstorable, refuseTakenName } from './postgres-errors.js';
export { rebuildView, verifyView, listViews, type ViewDifference, type RebuildableView } from './rebuild.js';
export { pause } from './rest.js';
export { verifySnapshots } from './verify-snapshots.js';
export { selectStreamVersions, selectSnapshotJson, buildSnapshotJson, type StreamVersion } from './streams.js';
export { runCombinedQueries } from './together.js';
export {
  defineAggregate,
  toEventRegistry,
  toProjection,
  buildEventRegistry,
  type Aggregate,
  type ModuleDefinition,
} from './slice.js';
