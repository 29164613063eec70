import { Refusal } from '#kernel';
import type { RouteEffect, RouteOptions } from '../routes/route-options.js';

/**
 * What a token may do at most: everything that its owner may do, read it, or read audit trails only.
 */
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

/** Returns what a request does. HEAD reads like GET, and all other methods change something, unless the route says more. */
const getEffect = (method: string, { effect }: RouteOptions): RouteEffect | 'changes' =>
  effect ?? (method === 'GET' || method === 'HEAD' ? 'reads' : 'changes');

/**
 * Refuses requests that a restricted token may not send, whatever the resource is. No restricted token creates a token
 * or another credential, because that could have more access than the token.
 */
export const requireUnrestrictedRoute = (
  restriction: TokenRestriction,
  method: string,
  options: RouteOptions,
): void => {
  if (!isRestricted(restriction)) return;
  const effect = getEffect(method, options);
  const { access } = restriction;
  if (access === 'audit-only' && effect !== 'reads-audit-trail') {
    throw createRestrictionRefusal(restriction, 'cannot do anything else');
  }
  if (access === 'read-only' && effect === 'changes') {
    throw createRestrictionRefusal(restriction, 'cannot change anything');
  }
  if (options.needsRecentSignIn) {
    throw createRestrictionRefusal(restriction, 'cannot create tokens or other credentials');
  }
};
