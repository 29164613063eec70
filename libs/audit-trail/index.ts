export { pruningChore } from './audit-trail.chore.js';
export { AuditTrailModule } from './audit-trail.module.js';
export type { Entry } from './entry.js';
export { auditTrailSettingsSlice, auditTrailSlice } from './audit-trail.slice.js';
