export { createLeafRecorder } from './audit-trail.follower.js';
export { createMissingLeavesJob } from './log/missing-leaves.job.js';
export { createLogStartsJob } from './log/log-starts.job.js';
export { createPruningJob } from './retention/pruning.job.js';
export { AuditTrailModule, auditTrailSettingsDefinition, createAuditTrailDefinition } from './audit-trail.module.js';
export { findRetainedEntry } from './reading/retained-entry.queries.js';
export { waitForTrail } from './wait-for-trail.queries.js';
export { ENTRY_VISIBILITY, type EntryVisibility, type TrailEntry } from './writing/trail-entry.js';
export {
  findTrailLog,
  openEntries,
  renderOpening,
  type OpenedEntry,
  type TrailLog,
} from './log/opened-entries.reader.js';
export { deleteLeaves, selectLeafBounds } from './log/trail-logs.queries.js';
export { openLogRange } from './log/log-range.reader.js';
export { CHECKPOINT_RETRY_SECONDS, TrailProofs, type TrailCheckpoint } from './reading/trail-proofs.port.js';
