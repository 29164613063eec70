import { z } from 'zod';
import { checkName, isSecureAddress, runAllChecks, toAttributeName, unprocessable } from '#platform/kernel';
import { defineAttributes, flag, nullableText, text, type AttributeValues } from '#api/json-api/rules';

const MAX_NAME = 90;
const MAX_ISSUER = 500;
const MAX_TEXT = 255;
const MAX_SCOPES = 20;
const MAX_DOMAINS = 100;
const MAX_GROUPS = 100;
const MAX_URL = 1_000;
const MAX_CERTIFICATES = 5;
/** Characters of a certificate with a key of 8,192 bits, and room for extensions. */
const MAX_CERTIFICATE = 8_000;

const listOfTexts = (initial: readonly string[], most: number, mostCharacters: number) => ({
  schema: z.array(z.string()),
  initial,
  body: z
    .array(text(mostCharacters))
    .max(most, { error: `too many, at most ${most} of them` })
    .optional(),
});

const requiredText = (most: number) => ({ schema: z.string(), body: text(most).optional() });
const textWithDefault = (initial: string) => ({ schema: z.string(), initial, body: text(MAX_TEXT).optional() });

const PROTOCOL_NAME = z.enum(['oidc', 'saml']);

/**
 * The settings of an identity provider, with the names of the API in camelCase. The vault stores the client's secret, and
 * the private key of `serviceCertificate`.
 */
const settings = {
  name: requiredText(MAX_NAME),
  issuer: requiredText(MAX_ISSUER),
  clientId: requiredText(MAX_TEXT),
  hasClientSecret: { schema: z.boolean(), initial: false },
  scopes: listOfTexts(['openid', 'profile', 'email'], MAX_SCOPES, 100),
  enabled: flag(true),
  createsUsers: flag(false),
  allowedDomains: listOfTexts([], MAX_DOMAINS, 253),
  allowedGroups: listOfTexts([], MAX_GROUPS, MAX_TEXT),
  groupsClaim: textWithDefault('groups'),
  usernameClaim: textWithDefault('preferred_username'),
  externalIdClaim: nullableText(MAX_TEXT),
  mapsGroups: flag(true),
  provesTwoFactor: { ...flag(false), since: 2 },
  mappedGroups: { ...listOfTexts([], MAX_GROUPS, MAX_TEXT), since: 2 },
  protocol: { schema: PROTOCOL_NAME, initial: 'oidc', body: PROTOCOL_NAME.optional(), since: 3 },
  signInUrl: { ...nullableText(MAX_URL), since: 3 },
  signOutUrl: { ...nullableText(MAX_URL), since: 3 },
  certificates: { ...listOfTexts([], MAX_CERTIFICATES, MAX_CERTIFICATE), since: 3 },
  provesEmails: { ...flag(false), since: 3 },
  serviceCertificate: { schema: z.string().nullable(), initial: null, since: 3 },
} as const;

export const PROVIDER_SETTINGS = defineAttributes(settings);
export type ProviderSettings = AttributeValues<typeof settings>;
export type ProviderChanges = Partial<ProviderSettings>;
type ProviderProtocol = ProviderSettings['protocol'];

/** Values of new providers with SAML, besides those of all providers. The attributes have the names that TFE expects. */
export const SAML_DEFAULTS = { enabled: false, groupsClaim: 'MemberOf', usernameClaim: 'Username' } as const;

/**
 * Returns the issuer by which identities of the provider are found. A provider can use one address for both protocols, and
 * give one person the subject in one of them that another person has in the other.
 */
export const toIdentityIssuer = ({ protocol, issuer }: Pick<ProviderSettings, 'protocol' | 'issuer'>): string =>
  protocol === 'saml' ? `saml:${issuer}` : issuer;

const VISIBLE_RULE = { pattern: /^[^\p{C}\p{Zl}\p{Zp}]+$/u, allowed: 'visible characters' } as const;
const NAME_RULE = { ...VISIBLE_RULE, most: MAX_NAME };
const CLIENT_ID_RULE = {
  attribute: 'client-id',
  pattern: /^[\x20-\x7e]+$/,
  allowed: 'ASCII characters',
  most: MAX_TEXT,
};
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

const ENTITY_ID_RULE = {
  attribute: 'issuer',
  pattern: /^[\x21-\x7e]+$/,
  allowed: 'ASCII characters without spaces',
  most: MAX_ISSUER,
};

const checkIssuer = (issuer: string, protocol: ProviderProtocol): void => {
  if (protocol === 'saml') return checkName(issuer, ENTITY_ID_RULE);
  if (issuer.length > MAX_ISSUER || !isSecureAddress(issuer)) {
    throw unprocessable(
      'Issuer must be https:// with a host, without user, password or query; http:// only for a loopback address',
      'issuer',
    );
  }
};

const checkScopes = (scopes: readonly string[]): void => {
  const invalid = scopes.find((scope) => !SCOPE.test(scope));
  if (invalid !== undefined)
    throw unprocessable(`Scopes must have no spaces or quotes, got ${JSON.stringify(invalid)}`, 'scopes');
  if (!scopes.includes('openid')) throw unprocessable('Scopes must include openid', 'scopes');
};

const checkDomains = (domains: readonly string[]): void => {
  const invalid = domains.find((domain) => !DOMAIN.test(domain));
  if (invalid === undefined) return;
  const got = JSON.stringify(invalid);
  throw unprocessable(`Allowed domains must be domains such as example.com, got ${got}`, 'allowed-domains');
};

const checkGroups = (groups: readonly string[]): void => {
  if (groups.some((group) => group.trim() === ''))
    throw unprocessable("Allowed groups can't be blank", 'allowed-groups');
};

/** `*` may only end an entry that has other characters before it: every other entry is the name of a group. */
const checkMappedGroups = (entries: readonly string[]): void => {
  const invalid = entries.find((entry) => !/^[^*]*[^*\s][^*]*\*?$/.test(entry));
  if (invalid === undefined) return;
  throw unprocessable(
    `Mapped groups must be names of groups, or the start of names followed by *, got ${JSON.stringify(invalid)}`,
    'mapped-groups',
  );
};

const checkClaim = (claim: string, attribute: string): void =>
  checkName(claim, { ...VISIBLE_RULE, attribute, most: MAX_TEXT });

/** Addresses may have a query, unlike issuers. */
const checkUrl = (url: string, attribute: string): void => {
  if (url.length <= MAX_URL && URL.parse(url)?.hash === '' && isSecureAddress(url.replace(/\?.*$/, ''))) return;
  throw unprocessable(`${attribute}: must be https:// with a host; http:// only for a loopback address`, attribute);
};

const SAML_ONLY = ['signInUrl', 'signOutUrl', 'certificates', 'provesEmails'] as const;

const checkSamlOnly = (changes: ProviderChanges): void => {
  for (const name of SAML_ONLY) {
    const value = changes[name];
    if (value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0))
      continue;
    throw unprocessable(`${toAttributeName(name)}: only providers with SAML have it`, toAttributeName(name));
  }
};

/** Throws a refusal if people could not sign in with an enabled provider. */
export const checkUsable = ({ protocol, enabled, signInUrl, certificates }: ProviderSettings): void => {
  if (protocol !== 'saml' || !enabled || (signInUrl !== null && certificates.length > 0)) return;
  throw unprocessable('enabled: a provider with SAML needs sign-in-url and certificates first', 'enabled');
};

/** Returns the changes with domains in lower case, and each entry of a list once. */
export const normalizeProviderChanges = (changes: ProviderChanges): ProviderChanges => {
  const { scopes, allowedDomains, allowedGroups, mappedGroups, ...others } = changes;
  return {
    ...others,
    ...(scopes && { scopes: [...new Set(scopes)] }),
    ...(allowedDomains && { allowedDomains: [...new Set(allowedDomains.map((domain) => domain.toLowerCase()))] }),
    ...(allowedGroups && { allowedGroups: [...new Set(allowedGroups)] }),
    ...(mappedGroups && { mappedGroups: [...new Set(mappedGroups)] }),
  };
};

/** Throws one refusal with every problem of these settings. */
export const checkProviderSettings = (changes: ProviderChanges, protocol: ProviderProtocol): void => {
  const { name, issuer, clientId, signInUrl, signOutUrl, ...others } = normalizeProviderChanges(changes);
  const { scopes, allowedDomains, allowedGroups, mappedGroups, groupsClaim, usernameClaim, externalIdClaim } = others;
  runAllChecks(
    () => name !== undefined && checkName(name, NAME_RULE),
    () => issuer !== undefined && checkIssuer(issuer, protocol),
    () => clientId !== undefined && checkName(clientId, CLIENT_ID_RULE),
    () => typeof signInUrl === 'string' && checkUrl(signInUrl, 'sign-in-url'),
    () => typeof signOutUrl === 'string' && checkUrl(signOutUrl, 'sign-out-url'),
    () => protocol === 'oidc' && checkSamlOnly(changes),
    () => scopes !== undefined && checkScopes(scopes),
    () => allowedDomains !== undefined && checkDomains(allowedDomains),
    () => allowedGroups !== undefined && checkGroups(allowedGroups),
    () => mappedGroups !== undefined && checkMappedGroups(mappedGroups),
    () => groupsClaim !== undefined && checkClaim(groupsClaim, 'groups-claim'),
    () => usernameClaim !== undefined && checkClaim(usernameClaim, 'username-claim'),
    () => typeof externalIdClaim === 'string' && checkClaim(externalIdClaim, 'external-id-claim'),
  );
};
