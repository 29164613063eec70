export { EventStoreModule, type StoreParts } from './event-store.module.js';
export { Database, type DatabaseOptions, type Session, type StatementCounter } from './database.js';
export type { Row } from './row.js';
export { Envelope } from './envelope.js';
export { EventStore } from './event-store.js';
export {
  firstRow,
  firstRowOrNull,
  aloneWith,
  staleWhen,
  unborn,
  unchanged,
  writeOf,
  type Appended,
  type ExpectedVersion,
  type Loaded,
  type OnceWrite,
  type Snapshot,
  type Write,
} from './writes.js';
export { ChoreRunner, type Chore, type Round } from './chore-runner.js';
export { caughtUp, isAheadOfCluster, type Awaited, type Follower } from './follower.js';
export { forgottenNames, Forgetting } from './forgetting.js';
export { FollowerRunner } from './follower-runner.js';
export { followerStates, type FollowerState } from './follower-states.js';
export { fingerprintOf, WrongEncryptionKey } from './encryption-key.js';
export type { EncryptedColumn } from './encrypted-column.js';
export {
  inspectDatabase,
  migrate,
  NoSite,
  OLDEST_POSTGRES,
  PostgresTooOld,
  type DatabaseState,
  type Migrated,
} from './migrate.js';
export { ForeignMigrations } from './migration-order.js';
export { brokenUnique, isOutage, isUnstorable, refuseTakenName } from './postgres-errors.js';
export { rebuild, verify, viewsOf, type Difference, type View } from './rebuild.js';
export { rest } from './rest.js';
export { verifySnapshots } from './verify-snapshots.js';
export { heldStreams, snapshotAt, snapshotOf, type Held } from './streams.js';
export { rowsTogether } from './together.js';
export { aggregate, kindsOf, projectionOf, registryOf, type Aggregate, type Slice } from './slice.js';
