export { oidcIssuerDefinition, OidcIssuerModule } from './oidc-issuer.module.js';
export { IdentityTokens, type RunIdentityClaims } from './tokens/identity-tokens.service.js';
