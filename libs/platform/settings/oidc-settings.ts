import type { z } from 'zod';
import { oidcVariables } from './oidc-variables.js';
import type { EnvironmentValues } from './secret-files.js';
import type { environment } from './variables.js';

type OidcEnvironment = z.output<typeof environment>;

const ISSUER = 'CADASTRE_OIDC_ISSUER';
const CLIENT_ID = 'CADASTRE_OIDC_CLIENT_ID';

/** Returns one line for each setting of the identity provider that contradicts another one. */
export const findOidcContradictions = (env: EnvironmentValues): readonly string[] => {
  if (env[ISSUER]) return env[CLIENT_ID] ? [] : [`${CLIENT_ID}: missing, ${ISSUER} needs it`];
  return Object.keys(oidcVariables)
    .filter((name) => env[name])
    .map((name) => `${name}: set, but ${ISSUER} is missing`);
};

/**
 * Returns one identity provider, or null if the settings describe none. The settings must contain no contradictions.
 */
export const toOidcSettings = (env: OidcEnvironment) => {
  if (env.CADASTRE_OIDC_ISSUER === undefined) return null;
  return {
    issuer: env.CADASTRE_OIDC_ISSUER,
    clientId: env.CADASTRE_OIDC_CLIENT_ID ?? '',
    /** Null for a client without a secret. */
    clientSecret: env.CADASTRE_OIDC_CLIENT_SECRET ?? null,
    name: env.CADASTRE_OIDC_NAME,
    scopes: env.CADASTRE_OIDC_SCOPES,
    createsUsers: env.CADASTRE_OIDC_CREATE_USERS,
    allowedDomains: env.CADASTRE_OIDC_ALLOWED_DOMAINS.map((domain) => domain.toLowerCase()),
    allowedGroups: env.CADASTRE_OIDC_ALLOWED_GROUPS,
    groupsClaim: env.CADASTRE_OIDC_GROUPS_CLAIM,
    usernameClaim: env.CADASTRE_OIDC_USERNAME_CLAIM,
    externalIdClaim: env.CADASTRE_OIDC_EXTERNAL_ID_CLAIM ?? null,
    mapsGroups: env.CADASTRE_OIDC_MAP_GROUPS,
    mappedGroups: env.CADASTRE_OIDC_MAPPED_GROUPS,
    provesTwoFactor: env.CADASTRE_OIDC_PROVES_TWO_FACTOR,
  } as const;
};
