export { createExpiryJob, createRetentionJob } from './retention.job.js';
export { RetentionModule } from './retention.module.js';
