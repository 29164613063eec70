export {
  endToken,
  findUserByName,
  listTokensOf,
  listUsers,
  previewForget,
  revokeToken,
  revokeTokensOf,
  type ForgetPreview,
  type TokenOverview,
  type UserOverview,
} from './operator/accounts.operator.js';
export { publishedTeams } from './teams/teams.published.js';
export { MembershipOrganizations } from './memberships/membership-organizations.port.js';
export { PeopleModule, peopleDefinition } from './people.module.js';
export {
  ensureAdmin,
  ensureUser,
  findFirstAdmin,
  forgetUserByName,
  hasAdmin,
  hasToken,
  issueUserToken,
  makeOwner,
  setEmail,
} from './operator/people.operator.js';
export {
  claimUsernames,
  createAccount,
  destroyToken,
  listAccounts,
  listActiveTokens,
  listImportedMembers,
  listImportedTeams,
  listKnownAccounts,
  listMembersAmong,
  listSimilarAccounts,
  raiseEpochsOfMembers,
  type ImportedTeam,
  type MovedAccount,
} from './operator/moved-accounts.operator.js';
export { computeExpiry, type TokenLifetime } from './authentication-tokens/token-lifetime.js';
export type { TeamDeleted } from './teams/team.js';
export type { UserChanges, UserEvent, UserForgotten } from './users/user.js';
export { createInvitedAccountsJob } from './users/invited-accounts.job.js';
export {
  findInvitedAccountByEmail,
  findInvitedAccountById,
  prepareTakeover,
  yieldAddress,
  type InvitedAccount,
} from './users/invited-accounts.writes.js';
export { createEndedSessionsJob } from './sessions/ended-sessions.job.js';
export { listClosedOrganizations, listOwnSessions } from './sessions/own-sessions.queries.js';
export {
  ACCOUNT_RACES,
  isEmailTaken,
  prepareFirstAccount,
  type PreparedAccount,
} from './users/first-account.writes.js';
export {
  findUserByLogin,
  findUserSigningIn,
  type UserByLogin,
  type UserSigningIn,
} from './users/user-login.queries.js';
export {
  listSessionsOfOtherProviders,
  listUsersOfProviderSession,
  loadPersonWithSessions,
} from './sessions/sessions.view.js';
export {
  endSessions,
  prepareSessionEnds,
  startSession,
  type SignIn,
  type SignInDependencies,
  type StartedSession,
} from './sessions/sessions.writes.js';
export { ChangeAuthenticationToken } from './authentication-tokens/authentication-tokens.handler.js';
export { listTokens, selectTokenOwner, type TokenRow } from './authentication-tokens/authentication-tokens.queries.js';
export { agentBody, parseDescribedToken } from './authentication-tokens/authentication-tokens.body.js';
export { LIST_SIZE } from './authentication-tokens/authentication-tokens.controller.js';
export { renderAuthenticationToken } from './authentication-tokens/authentication-tokens.document.js';
export {
  prepareTokenDestruction,
  buildTokenHashDeletion,
  prepareNewToken,
  prepareTokenCreation,
  selectOwnedTokens,
  type IssuedToken,
  type NewToken,
  type OwnedToken,
  type RestrictionInput,
  type TokenDestruction,
} from './authentication-tokens/authentication-tokens.writes.js';
export { WORKLOAD_IDENTITIES } from './authentication-tokens/authentication-tokens.queries.js';
export {
  countWorkloadTokens,
  selectTeamTokenMaxTtl,
  selectTokensOfWorkload,
} from './authentication-tokens/workload-tokens.queries.js';
export {
  destroyExpiredWorkloadTokens,
  prepareWorkloadToken,
  prepareWorkloadTokenDestruction,
} from './authentication-tokens/workload-tokens.writes.js';
export { mapGroupsToTeams, type UserGroups } from './teams/group-teams.operation.js';
export { listUsersToMap, type ProvidedGroups, type UserToMapToTeams } from './teams/group-teams.queries.js';
export { isUsernameTaken } from './users/user-names.js';
export { chooseUsername, prepareProvisionedUser } from './users/provisioned-user.writes.js';
export { prepareUserChange, type UserWrites } from './users/changed-user.writes.js';
export { checkEmail } from './users/user.js';
export { ChangeUser } from './users/users.handler.js';
export { renderUser } from './users/users.document.js';
export { countUsers, loadUserToSuspend, selectOrganizationNames, type UserToSuspend } from './users/users.queries.js';
export { prepareOwnersTeam } from './teams/owners-team.writes.js';
export { selectRelatedTeams, selectRelatedUsers } from './people.related.js';
export { canChangeTeam, canReadTeam, requireTeamChange, type TeamScope } from './team-access/team-permission.js';
export {
  isHiddenTeam,
  isVisibleTeam,
  selectActiveMembers,
  selectTeamScope,
  selectVisiblePrincipal,
} from './teams/teams.queries.js';
export {
  selectActiveMembersAmong,
  selectMailRecipients,
  type MailRecipient,
} from './memberships/mail-recipients.queries.js';
