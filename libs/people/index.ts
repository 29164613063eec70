export {
  listTokensOf,
  listUsers,
  previewForget,
  revokeToken,
  type ForgetPreview,
  type TokenOverview,
  type UserOverview,
} from './operator/accounts.operator.js';
export { PeopleModule } from './people.module.js';
export {
  ADMIN_USERNAME,
  ensureAdmin,
  ensureUser,
  findFirstAdmin,
  forgetUserByName,
  hasAdmin,
  issueUserToken,
  makeOwner,
  setEmail,
} from './operator/people.operator.js';
export {
  createAccount,
  destroyToken,
  listAccounts,
  listActiveTokens,
  listMembersAmong,
  listSimilarAccounts,
  raiseEpochsOfMembers,
  type MovedAccount,
} from './operator/moved-accounts.operator.js';
export { peopleDefinition } from './people.definition.js';
export { computeExpiry, type TokenLifetime } from './authentication-tokens/token-lifetime.js';
export type { UserForgotten } from './users/user.js';
export { createEndedSessionsJob } from './sessions/ended-sessions.job.js';
export { listClosedOrganizations, listOwnSessions } from './sessions/own-sessions.queries.js';
export { findUserByLogin, type UserByLogin } from './users/user-login.queries.js';
export { SIGN_IN_METHODS, type SessionEndReason, type SignInMethod } from './sessions/session.js';
export {
  findSession,
  loadPersonWithSessions,
  selectActiveOrganizations,
  selectOwnedSessions,
} from './sessions/sessions.queries.js';
export {
  endSessions,
  prepareSessionEnds,
  SESSION_HOURS,
  startSession,
  type SignIn,
  type SignInDependencies,
  type StartedSession,
} from './sessions/sessions.writes.js';
export { renderAuthenticationToken } from './authentication-tokens/authentication-tokens.document.js';
export {
  prepareTokenDestruction,
  buildTokenHashDeletion,
  prepareNewToken,
  selectOwnedTokens,
  type IssuedToken,
  type OwnedToken,
  type TokenDestruction,
} from './authentication-tokens/authentication-tokens.writes.js';
export { mapGroupsToTeams, type UserGroups } from './teams/group-teams.operation.js';
export { prepareOwnersTeam } from './teams/owners-team.writes.js';
export { selectRelatedTeams, selectRelatedUsers } from './people.related.js';
export { canReadTeam } from './team-access/team-permission.js';
export { isHiddenTeam, isVisibleTeam, selectVisiblePrincipal } from './teams/teams.queries.js';
