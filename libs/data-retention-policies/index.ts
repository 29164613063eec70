export {
  dataRetentionPolicy,
  type DataRetentionPolicy,
  type DataRetentionPolicyEvent,
  type RetentionTarget,
} from './data-retention-policy.js';
export { retentionSlice } from './data-retention-policies.slice.js';
export { DELETE_OLDERS, DONT_DELETES, ownPolicy, type PolicyIdentifier } from './own-policy.queries.js';
