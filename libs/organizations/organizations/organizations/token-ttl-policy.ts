/** Types of tokens that a policy limits, spelled as in the API, in the order of its responses. */
export const LIMITED_TOKENS = ['organization', 'team', 'user', 'audit_trails'] as const;
export type LimitedToken = (typeof LIMITED_TOKENS)[number];

/** The longest lifetime of a token of each type, in milliseconds. */
export type MaxTokenTtls = Readonly<Record<LimitedToken, number>>;

/** Two average Gregorian years: the vendor's default. */
const TWO_YEARS_MS = 63_113_904_000;

export const DEFAULT_MAX_TTLS: MaxTokenTtls = {
  organization: TWO_YEARS_MS,
  team: TWO_YEARS_MS,
  user: TWO_YEARS_MS,
  audit_trails: TWO_YEARS_MS,
};

/** A shorter-lived token could expire before its first request. */
export const MIN_TTL_MS = 60_000;
/** A hundred average Gregorian years: about the longest lifetime that CADASTRE_TOKEN_LIFETIME accepts. */
export const MAX_TTL_MS = 50 * TWO_YEARS_MS;
