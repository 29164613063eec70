export { computeFollowerLockKey, computeLockKey } from './advisory-lock.js';
export { runCombinedQueries } from './combined-queries.js';
export { inspectConnections, PooledConnectionError, PoolerError } from './inspect-connections.js';
export { castRows, rowCasts, type DatabaseRow, type QueryRunner } from './database-row.js';
export {
  Database,
  FailedGroupError,
  type DatabaseOptions,
  type DatabaseSession,
  type StatementCounter,
} from './database.js';
export { isKeyedQuery, mergeKeyedQueries, pickRows, toStatement, type KeyedQuery } from './keyed-queries.js';
export { keepLeading } from './leader-loop.js';
export { readMaxConnections } from './max-connections.js';
export { pause } from './pause.js';
export { RequestRound } from './request-round.js';
export type { StatementSharing } from './statement-spans.js';
export {
  getSqlState,
  getViolatedConstraint,
  isForgottenPersonError,
  isLockTimeout,
  isOutage,
  isPoolerRefusal,
  isRetryableError,
  isStatementTimeout,
  isUnstorable,
  isVersionConflictError,
  parseNamedStreams,
  refuseTakenName,
} from './postgres-errors.js';
export { ScheduledJobRunner, type JobRecorder, type JobRun, type ScheduledJob } from './scheduled-job-runner.js';
