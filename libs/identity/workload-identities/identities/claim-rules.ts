import { unprocessable } from '#platform/kernel';

/**
 * Accepted values by the name of the claim. A token matches if each of these claims has an accepted value. In a value,
 * `*` stands for any characters, also for none, and also for `/` and `:`. There are no other special characters, and
 * upper and lower case differ.
 */
export type ClaimRules = Readonly<Record<string, readonly string[]>>;

/** The claims of a token, as its issuer has signed them. */
export type TokenClaims = Readonly<Record<string, unknown>>;

/** The most claims of an identity, values of a claim, and characters. */
export const CLAIM_LIMITS = { claims: 20, values: 20, nameCharacters: 100, valueCharacters: 500 } as const;

const WILDCARD = '*';

/**
 * Returns whether the value matches the pattern. Takes the product of their lengths at most, because callers choose
 * both.
 */
export const matchesPattern = (pattern: string, value: string): boolean => {
  const [first = '', ...rest] = pattern.split(WILDCARD);
  const last = rest.pop();
  if (last === undefined) return value === pattern;
  if (value.length < first.length + last.length || !value.startsWith(first) || !value.endsWith(last)) return false;
  let from = first.length;
  const end = value.length - last.length;
  for (const part of rest) {
    const start = value.indexOf(part, from);
    if (start === -1 || start + part.length > end) return false;
    from = start + part.length;
  }
  return true;
};

/** Returns the texts of a claim that rules are compared with. A list has one for each item. Objects have none. */
const listTexts = (claim: unknown): readonly string[] => {
  if (Array.isArray(claim)) return claim.flatMap((item) => (Array.isArray(item) ? [] : listTexts(item)));
  if (typeof claim === 'string') return [claim];
  // Larger numbers lose digits when JSON is parsed, so another number could match.
  return typeof claim === 'boolean' || Number.isSafeInteger(claim) ? [String(claim)] : [];
};

/** Returns the names of the claims that have no accepted value. The token matches if there are none. */
export const findMismatches = (rules: ClaimRules, claims: TokenClaims): readonly string[] =>
  Object.entries(rules)
    .filter(([name, accepted]) => {
      const texts = Object.hasOwn(claims, name) ? listTexts(claims[name]) : [];
      return !texts.some((text) => accepted.some((pattern) => matchesPattern(pattern, text)));
    })
    .map(([name]) => name);

/**
 * Claims that say who requested the token, and how many parts of a value `*` may not replace. A part ends with `:` or
 * `/`. Two parts of `sub` are a kind and an owner: `repo:acme/`, `project_path:acme/`. Other claims, such as `ref`, have
 * values that anybody can have at a public issuer.
 */
const IDENTIFYING_CLAIMS: Readonly<Record<string, number>> = {
  sub: 2,
  // GitHub Actions
  repository: 1,
  repository_id: 1,
  repository_owner: 1,
  repository_owner_id: 1,
  workflow_ref: 1,
  // GitLab
  namespace_id: 1,
  namespace_path: 1,
  project_id: 1,
  project_path: 1,
};

/** Returns whether a value names its owner before the first `*`. */
const namesOwner = (value: string, parts: number): boolean => {
  const wildcard = value.indexOf(WILDCARD);
  if (wildcard === -1) return true;
  const complete = value.slice(0, wildcard).split(/[:/]/).slice(0, -1);
  return complete.filter((part) => part !== '').length >= parts;
};

const isRestricted = (rules: ClaimRules): boolean =>
  Object.entries(IDENTIFYING_CLAIMS).some(([name, parts]) => {
    const accepted = Object.hasOwn(rules, name) ? rules[name] : undefined;
    return accepted?.every((value) => namesOwner(value, parts)) ?? false;
  });

/** Claims that have another meaning for every token. */
const RESERVED: Readonly<Record<string, string>> = {
  aud: 'set the attribute audience instead',
  exp: 'expired tokens are never accepted',
  iat: 'tokens are accepted as long as they have not expired',
  iss: 'set the attribute issuer instead',
  nbf: 'tokens are accepted as long as they have not expired',
};

const NAME = /^[A-Za-z][\w./:-]*$/;

const checkClaim = (name: string, accepted: readonly string[]): void => {
  const at = `/data/attributes/claims/${name}`;
  const reason = Object.hasOwn(RESERVED, name) ? RESERVED[name] : undefined;
  if (reason !== undefined) throw unprocessable(`Claims cannot contain ${name}: ${reason}`, at);
  if (!NAME.test(name)) {
    throw unprocessable(
      `Claims: the name of a claim begins with a letter and contains letters, numbers and _ . / : -, got ${JSON.stringify(name)}`,
      at,
    );
  }
  if (accepted.length === 0) throw unprocessable(`Claims: ${name} needs at least one accepted value`, at);
  if (accepted.some((value) => value.trim() === '')) throw unprocessable(`Claims: a value of ${name} is blank`, at);
};

/**
 * Refuses rules that accept tokens of everybody who can get a token of the issuer. Every user of GitHub can get one, with
 * every value of claims such as `ref`.
 */
export const checkClaimRules = (rules: ClaimRules): void => {
  for (const [name, accepted] of Object.entries(rules)) checkClaim(name, accepted);
  if (isRestricted(rules)) return;
  throw unprocessable(
    `Claims must contain sub or another claim that names the owner (${Object.keys(IDENTIFYING_CLAIMS).slice(1).join(', ')}). ` +
      'Each of its values must name the owner before the first *, such as repo:acme/app:ref:refs/heads/main or repo:acme/* for sub, or acme/* for repository',
    'claims',
  );
};
