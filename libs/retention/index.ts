export { createExpiryJob, createRetentionJob } from './retention.chore.js';
export { RetentionModule } from './retention.module.js';
