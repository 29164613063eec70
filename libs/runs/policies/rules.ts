export type { EnforcedPolicy, EnforcedPolicySet } from './enforced-policies.js';
