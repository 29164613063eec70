import type { IdentityClaims } from '../protocol/identity-claims.js';
import type { ProviderSettings } from '../protocol/provider-settings.js';

/** What a person lacks to sign in with a provider. */
const SIGN_IN_FAULTS = ['verified-email', 'domain', 'group', 'account', 'email-taken', 'suspended'] as const;
export type SignInFault = (typeof SIGN_IN_FAULTS)[number];

const isInDomain = (email: string, domains: readonly string[]): boolean =>
  domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase());

const findEmailFault = ({ email, isEmailVerified }: IdentityClaims, domains: readonly string[]): SignInFault | null => {
  if (domains.length === 0) return null;
  if (email === null || !isEmailVerified) return 'verified-email';
  return isInDomain(email, domains) ? null : 'domain';
};

/**
 * Returns the address of a new account: the one that the provider calls verified, if it is in an allowed domain of the
 * provider. Other addresses stay unused, because a provider could state those of other people, and invitations find an
 * account by its address.
 */
export const findTrustedEmail = (
  { email, isEmailVerified }: IdentityClaims,
  { allowedDomains }: Pick<ProviderSettings, 'allowedDomains'>,
): string | null => (email !== null && isEmailVerified && isInDomain(email, allowedDomains) ? email : null);

/**
 * Returns the `externalId` of the user of SCIM who is this person; null for none. An address counts only under the rules
 * of `findTrustedEmail`.
 */
export const findTrustedExternalId = (
  claims: IdentityClaims,
  settings: Pick<ProviderSettings, 'allowedDomains' | 'externalIdClaim'>,
): string | null => (settings.externalIdClaim === 'email' ? findTrustedEmail(claims, settings) : claims.externalId);

/** Returns the rules of the provider that the person does not satisfy. They apply to each sign-in. */
export const findUnsatisfiedRules = (
  claims: IdentityClaims,
  { allowedDomains, allowedGroups }: Pick<ProviderSettings, 'allowedDomains' | 'allowedGroups'>,
): SignInFault[] => {
  const emailFault = findEmailFault(claims, allowedDomains);
  const isInGroup = allowedGroups.length === 0 || allowedGroups.some((group) => claims.groups?.includes(group));
  return [...(emailFault === null ? [] : [emailFault]), ...(isInGroup ? [] : (['group'] as const))];
};
