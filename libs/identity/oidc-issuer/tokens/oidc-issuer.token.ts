/** Injection token for the issuer of the tokens of runs: the public URL of the server, without a trailing slash. */
export const OIDC_ISSUER = Symbol('OIDC_ISSUER');
