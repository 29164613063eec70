export { AuditTrailModule } from './audit-trail.module.js';
export { Pruner } from './audit-trail.pruner.js';
export type { Entry } from './entry.js';
export { auditTrailSlice } from './audit-trail.slice.js';
