export { auditTrailLogDefinition } from './audit-trail-log.module.js';
