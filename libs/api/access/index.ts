export {
  loadParentOrganization,
  loadParentWithCount,
  type ParentOrganization,
} from './permissions/parent-organization.queries.js';
export { changeResource, createResource } from './commands/resource.writes.js';
export { OutdatedAccessFilter, repeatWhileAccessChanges } from './authentication/outdated-access.filter.js';
export * from './access.module.js';
export * from './authentication/authenticate.guard.js';
export { Authenticator, hashSecret, type SessionRules } from './authentication/authenticator.js';
export {
  formatEndedSessionCookie,
  formatSessionCookie,
  getCredential,
  getSessionCredential,
  SESSION_COOKIE,
  toSessionCredential,
  getBearerToken,
} from './authentication/credentials.js';
export { SignInRequired, SignInRequiredFilter } from './authentication/sign-in-required.filter.js';
export { hasRecentSignIn, RECENT_SIGN_IN_MS } from './authentication/recent-sign-in.js';
export { IMPORT_HEADER, sendAsImport } from './authentication/imported-origin.js';
export { TwoFactorRule } from './authentication/two-factor.rule.js';
export { RequireRecentSignIn } from './routes/recent-sign-in.decorator.js';
export { LimitAccessChanges } from './routes/access-change.decorator.js';
export { countRateLimited, type RateLimit } from './access.metrics.js';
export {
  verifyCurrentAccess,
  requireCurrentAccess,
  isOutdatedAccessError,
  selectAddressesSubject,
  selectMembersSubject,
  raiseEpoch,
  selectOutdatedCallers,
  toCheckedCaller,
} from './permissions/access-epochs.queries.js';
export { requireSiteAdmin } from './permissions/site-administrators.queries.js';
export { isAddressAllowed, requireAddressOfLink, selectRangesOfLink } from './authentication/allowed-ranges.queries.js';
export { findCurrentIdentity } from './authentication/identity.queries.js';
export * from './permissions/grants.queries.js';
export * from './permissions/resource-names.js';
export { listSimilarNames } from './permissions/similar-names.queries.js';
export {
  listInOrganization,
  toPermittedPage,
  type OrganizationList,
} from './permissions/organization-lists.queries.js';
export { selectTeamGrants, type TeamGrant, type TeamGrantRequest } from './permissions/team-grants.queries.js';
export { isPermittedBy, selectPermittedScopes } from './permissions/permitted-scopes.queries.js';
export { TokenBuckets } from './authentication/token-buckets.js';
export { TokenRateLimit } from './authentication/token-rate-limit.port.js';
export * from './rules.js';
export { chooseLinkOrigin } from './callers/link-origin.js';
export * from './routes/route-options.js';
export { RecoveryPeriod, type RecoveredResource, type RecoveryChange } from './commands/recovery-period.service.js';
export { describeRename, recoverResource } from './commands/recovery.writes.js';
export { createExpiredItemsJob } from './commands/expired-items.job.js';
