export { createPruningJob } from './audit-trail.chore.js';
export { AuditTrailModule } from './audit-trail.module.js';
export type { TrailEntry } from './entry.js';
export { auditTrailSettingsDefinition, createAuditTrailDefinition } from './audit-trail.slice.js';
