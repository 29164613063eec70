export { createAuditArchiveJob } from './archive-delivery.job.js';
export { auditTrailArchiveDefinition } from './audit-trail-archive.module.js';
