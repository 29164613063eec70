export { SignInModule, type SignInModuleOptions, signInDefinition } from './sign-in.module.js';
export { createAccountMailsJob } from './notices/account-mails.job.js';
export { AccountService } from './account/account.service.js';
export { formatCookie, formatRemovedCookie, formatStrictCookie, readCookie } from './flow/sign-in-cookies.js';
export { getNextPath } from './flow/next-path.js';
export { SignInFlow, type SignInRequest, type SignInResult } from './flow/sign-in-flow.service.js';
export { SignInOptions, type SignInOption } from './flow/sign-in-options.js';
export { SignInTokens } from './sign-in-tokens.service.js';
export {
  findUserByIdentity,
  IDENTITY_RACE,
  listLinkedIdentities,
  type ProviderSubject,
} from './identities/linked-identities.view.js';
export { prepareIdentityLink } from './identities/linked-identities.writes.js';
export type { SignInRefused } from './refusals/refused-sign-ins.js';
export { createSignInLink, type SignInLink, type SignInLinkRequest } from './links/sign-in-links.operator.js';
export type { LinkedIdentity, SignInMethodsEvent } from './methods/sign-in-methods.js';
export { isChallengeUsed, useChallenge } from './passkeys/passkeys.queries.js';
