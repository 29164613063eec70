export { identityProvidersDefinition } from './identity-providers.definition.js';
export { IdentityProvidersModule, type IdentityProvidersOptions } from './identity-providers.module.js';
