export { DELETE_OLDERS, DONT_DELETES, dataRetentionPolicy, type RetentionTarget } from './data-retention-policy.js';
export { retentionDefinition } from './data-retention-policies.definition.js';
export { selectOwnPolicy, type PolicyIdentifier } from './own-policy.queries.js';
