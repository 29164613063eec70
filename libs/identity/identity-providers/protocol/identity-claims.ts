import type { Timestamp } from '#platform/kernel';
import type { ProviderSettings } from './provider-settings.js';

/** What a provider states about a person. Texts that the server cannot use are null. */
export type IdentityClaims = {
  readonly subject: string;
  /** The provider's id of its own session (`sid`), by which it can end the session here. */
  readonly providerSession: string | null;
  /** When the person authenticated at the provider (`auth_time`); null if it does not state that. */
  readonly authenticatedAt: Timestamp | null;
  /** When sessions here must end; null or absent if the provider does not limit them. */
  readonly sessionEnd?: Timestamp | null;
  /** A text from which a user name can derive. */
  readonly name: string;
  readonly email: string | null;
  /** Whether the provider states that the person has proved the address. */
  readonly isEmailVerified: boolean;
  /** Null if the provider states no groups, or no list of at most 1,000 groups. */
  readonly groups: readonly string[] | null;
  /**
   * The text that equals the `externalId` of a user that SCIM provisions; null if the settings name no such claim, or
   * `email`: other rules apply to addresses (sign-in-rules.ts).
   */
  readonly externalId: string | null;
};

type RawClaims = Readonly<Record<string, unknown>>;

const MAX_TEXT = 255;
const MAX_EMAIL = 254;
const MAX_GROUPS = 1_000;
const VISIBLE = /^[^\p{C}\p{Zl}\p{Zp}]+$/u;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

const parseText = (value: unknown, most = MAX_TEXT): string | null =>
  typeof value === 'string' && value.length <= most && VISIBLE.test(value) ? value : null;

const parseEmail = (value: unknown): string | null => {
  const text = parseText(value, MAX_EMAIL);
  return text !== null && EMAIL.test(text) ? text : null;
};

/** Some providers send the text instead of the value. */
const isTrue = (value: unknown): boolean => value === true || value === 'true';

const parseGroups = (value: unknown): readonly string[] | null => {
  const groups: unknown = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(groups) || groups.length > MAX_GROUPS) return null;
  if (!groups.every((group): group is string => typeof group === 'string')) return null;
  // No team and no setting can have another text.
  return [...new Set(groups)].filter((group) => parseText(group) !== null);
};

/** The end of the year 9999, in seconds. Later times have no timestamp in the usual format. */
const MAX_SECONDS = 253_402_300_799;

const parseSeconds = (value: unknown): Timestamp | null =>
  typeof value === 'number' && value >= 0 && value <= MAX_SECONDS ? new Date(value * 1_000).toISOString() : null;

/** Returns the address and the statement about it from one source: two sources could have two addresses. */
const findEmail = (sources: readonly RawClaims[]): Pick<IdentityClaims, 'email' | 'isEmailVerified'> => {
  const withEmail = sources.filter(({ email }) => parseEmail(email) !== null);
  const source = withEmail.find((claims) => 'email_verified' in claims) ?? withEmail[0] ?? {};
  return { email: parseEmail(source['email']), isEmailVerified: isTrue(source['email_verified']) };
};

type ClaimSettings = Pick<
  ProviderSettings,
  | 'groupsClaim'
  | 'usernameClaim'
  | 'externalIdClaim'
  | 'createsUsers'
  | 'allowedDomains'
  | 'allowedGroups'
  | 'mapsGroups'
>;

/** Returns whether the server needs claims that an ID token does not have. The userinfo endpoint may have them. */
export const needsMoreClaims = (idToken: RawClaims, settings: ClaimSettings): boolean => {
  const { groupsClaim, usernameClaim, externalIdClaim, createsUsers, allowedDomains, allowedGroups, mapsGroups } =
    settings;
  const needed = [
    ...(mapsGroups || allowedGroups.length > 0 ? [groupsClaim] : []),
    ...(createsUsers ? [usernameClaim] : []),
    ...(createsUsers || allowedDomains.length > 0 ? ['email'] : []),
    ...(externalIdClaim === null ? [] : [externalIdClaim]),
  ];
  return needed.some((claim) => idToken[claim] === undefined);
};

/**
 * Returns the claims of a person. `userinfo` adds claims that the ID token does not have. Returns null if the subject is
 * not 1 to 255 visible characters (OpenID Connect Core 1.0 §2).
 */
export const parseIdentityClaims = (
  idToken: RawClaims,
  userinfo: RawClaims,
  { groupsClaim, usernameClaim, externalIdClaim }: ClaimSettings,
): IdentityClaims | null => {
  const subject = parseText(idToken['sub']);
  if (subject === null) return null;
  const all = { ...userinfo, ...idToken };
  const { email, isEmailVerified } = findEmail([idToken, userinfo]);
  return {
    subject,
    providerSession: parseText(idToken['sid']),
    authenticatedAt: parseSeconds(idToken['auth_time']),
    name: parseText(all[usernameClaim]) ?? email ?? subject,
    email,
    isEmailVerified,
    groups: parseGroups(all[groupsClaim]),
    externalId: externalIdClaim === null || externalIdClaim === 'email' ? null : parseText(all[externalIdClaim]),
  };
};
