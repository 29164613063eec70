export { OauthModule } from './oauth.module.js';
export { oauthDefinition } from './oauth.definition.js';
export type { OauthOptions } from './oauth.options.js';
export { TokenGrant, type TokenAnswer, type TokenRequest } from './grants/token.grant.js';
export { OauthRefusal, type OauthError } from './protocol/oauth-refusal.js';
