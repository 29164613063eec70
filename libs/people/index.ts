export {
  listTokensOf,
  listUsers,
  previewForgetting,
  revokeToken,
  type ForgettingPreview,
  type TokenOverview,
  type UserOverview,
} from './accounts.operator.js';
export { PeopleModule } from './people.module.js';
export {
  ADMIN,
  ensureAdmin,
  ensureUser,
  forgetUserNamed,
  hasAdmin,
  issueUserToken,
  makeOwner,
  setEmail,
} from './people.operator.js';
export { peopleSlice } from './people.slice.js';
export { endOf, type TokenLifetime } from './token-lifetime.js';
export type { UserForgotten } from './user.js';
export { authenticationTokenResource } from './authentication-tokens.document.js';
export {
  destroyTokens,
  forgetTokens,
  newToken,
  tokensOf,
  type IssuedToken,
  type OwnedToken,
  type TokenDestruction,
} from './authentication-tokens.writes.js';
export { foundOwners } from './owners-team.writes.js';
export { relatedTeams, relatedUsers } from './people.related.js';
export { isHiddenTeam, isSeenTeam, shownSomebody } from './teams.queries.js';
