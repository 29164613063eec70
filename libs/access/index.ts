export { loadParentOrganization, type ParentOrganization } from './access.queries.js';
export { OutdatedAccessFilter } from './access.filter.js';
export * from './access.module.js';
export * from './authenticate.guard.js';
export { Authenticator, hashSecret } from './authenticator.js';
export { LimitAccessChanges } from './changes-access.js';
export { countRateLimited, type RateLimit } from './metrics.js';
export {
  verifyCurrentAccess,
  requireCurrentAccess,
  isOutdatedAccessError,
  selectMembersSubject,
  raiseEpoch,
} from './fresh.js';
export { findCurrentIdentity } from './identity.queries.js';
export * from './grants.queries.js';
export { listInOrganization, type OrganizationList } from './organization-lists.queries.js';
export { selectPermittedScopes } from './permitted.queries.js';
export * from './rules.js';
export * from './route-options.js';
