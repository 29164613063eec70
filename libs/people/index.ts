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
