export type { DataRetentionPolicyEvent } from './data-retention-policy.js';
export { expiryChore, retentionChore } from './retention.chore.js';
export { RetentionModule } from './retention.module.js';
export { retentionSlice } from './retention.slice.js';
