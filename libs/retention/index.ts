export type { DataRetentionPolicyEvent } from './data-retention-policy.js';
export { retentionChore } from './retention.chore.js';
export { RetentionModule } from './retention.module.js';
export { retentionSlice } from './retention.slice.js';
