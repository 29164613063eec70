export {
  listTokensOf,
  listUsers,
  previewForget,
  revokeToken,
  type ForgetPreview,
  type TokenOverview,
  type UserOverview,
} from './accounts.operator.js';
export { PeopleModule } from './people.module.js';
export {
  ADMIN_USERNAME,
  ensureAdmin,
  ensureUser,
  forgetUserByName,
  hasAdmin,
  issueUserToken,
  makeOwner,
  setEmail,
} from './people.operator.js';
export { peopleDefinition } from './people.slice.js';
export { computeExpiry, type TokenLifetime } from './token-lifetime.js';
export type { UserForgotten } from './user.js';
export { renderAuthenticationToken } from './authentication-tokens.document.js';
export {
  prepareTokenDestruction,
  buildTokenHashDeletion,
  prepareNewToken,
  selectOwnedTokens,
  type IssuedToken,
  type OwnedToken,
  type TokenDestruction,
} from './authentication-tokens.writes.js';
export { prepareOwnersTeam } from './owners-team.writes.js';
export { selectRelatedTeams, selectRelatedUsers } from './people.related.js';
export { isHiddenTeam, isVisibleTeam, selectVisiblePrincipal } from './teams.queries.js';
