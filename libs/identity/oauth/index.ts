export { OauthModule, oauthDefinition } from './oauth.module.js';
export type { OauthOptions } from './oauth.options.js';
export { oauthErrorFormats } from './protocol/oauth-errors.renderer.js';
