export { createPruningJob } from './retention/pruning.job.js';
export { AuditTrailModule, auditTrailSettingsDefinition, createAuditTrailDefinition } from './audit-trail.module.js';
export type { TrailEntry } from './writing/trail-entry.js';
