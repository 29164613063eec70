import { z } from 'zod';
import { checkName, isSecureAddress, runAllChecks, unprocessable } from '#platform/kernel';
import { defineAttributes, flag, nullableText, text, type AttributeValues } from '#api/json-api/rules';

const MAX_NAME = 90;
const MAX_ISSUER = 500;
const MAX_TEXT = 255;
const MAX_SCOPES = 20;
const MAX_DOMAINS = 100;
const MAX_GROUPS = 100;

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

/** The settings of an identity provider, with the names of the API in camelCase. The vault stores the client's secret. */
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
};

export const PROVIDER_SETTINGS = defineAttributes(settings);
export type ProviderSettings = AttributeValues<typeof settings>;
export type ProviderChanges = Partial<ProviderSettings>;

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

const checkIssuer = (issuer: string): void => {
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
export const checkProviderSettings = (changes: ProviderChanges): void => {
  const { name, issuer, clientId, ...others } = normalizeProviderChanges(changes);
  const { scopes, allowedDomains, allowedGroups, mappedGroups, groupsClaim, usernameClaim, externalIdClaim } = others;
  runAllChecks(
    () => name !== undefined && checkName(name, NAME_RULE),
    () => issuer !== undefined && checkIssuer(issuer),
    () => clientId !== undefined && checkName(clientId, CLIENT_ID_RULE),
    () => scopes !== undefined && checkScopes(scopes),
    () => allowedDomains !== undefined && checkDomains(allowedDomains),
    () => allowedGroups !== undefined && checkGroups(allowedGroups),
    () => mappedGroups !== undefined && checkMappedGroups(mappedGroups),
    () => groupsClaim !== undefined && checkClaim(groupsClaim, 'groups-claim'),
    () => usernameClaim !== undefined && checkClaim(usernameClaim, 'username-claim'),
    () => typeof externalIdClaim === 'string' && checkClaim(externalIdClaim, 'external-id-claim'),
  );
};
