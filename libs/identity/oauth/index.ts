export { OauthModule } from './oauth.module.js';
export { oauthDefinition } from './oauth.definition.js';
export type { OauthOptions } from './oauth.options.js';
export { oauthErrorFormats } from './protocol/oauth-errors.renderer.js';
