export { policiesDefinition, PoliciesModule } from './policies.module.js';
export {
  HAS_ENFORCED_POLICIES,
  SELECT_ENFORCED_POLICIES,
  selectPolicyDescriptions,
  SELECT_POLICY_TEXTS,
  type EncryptedPolicyText,
} from './enforced-policies.queries.js';
