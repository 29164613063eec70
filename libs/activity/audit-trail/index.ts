export { createPruningJob } from './retention/pruning.job.js';
export { AuditTrailModule } from './audit-trail.module.js';
export type { TrailEntry } from './writing/trail-entry.js';
export { auditTrailSettingsDefinition, createAuditTrailDefinition } from './audit-trail.definition.js';
