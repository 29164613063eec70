import { Refusal } from '#platform/kernel';

/** The most that a token may do: everything that its owner may do, only read, or only read audit trails. */
export const TOKEN_ACCESS = ['full', 'read-only', 'audit-only'] as const;
export type TokenAccess = (typeof TOKEN_ACCESS)[number];

/** The part of its owner's access that a token has. */
export type TokenRestriction = {
  readonly access: TokenAccess;
  /** Id of the only organization in which the token has access; null for all organizations of the owner. */
  readonly organization: string | null;
};

export const UNRESTRICTED: TokenRestriction = { access: 'full', organization: null };

export const isRestricted = ({ access, organization }: TokenRestriction): boolean =>
  access !== 'full' || organization !== null;

const DESCRIPTIONS = {
  full: 'has access to one organization only',
  'read-only': 'is read-only',
  'audit-only': 'can only read audit trails',
} as const satisfies Record<TokenAccess, string>;

/** Returns the 403 for a token whose owner may do more than the token. `consequence` completes "This token …, so it". */
export const createRestrictionRefusal = ({ access, organization }: TokenRestriction, consequence: string): Refusal =>
  new Refusal('forbidden', [
    {
      detail: `This token ${DESCRIPTIONS[access]}, so it ${consequence}. Use a token without this restriction.`,
      meta: { restriction: access === 'full' && organization !== null ? 'one-organization' : access },
    },
  ]);
