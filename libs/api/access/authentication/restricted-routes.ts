import type { RouteEffect, RouteOptions } from '../routes/route-options.js';
import { createRestrictionRefusal, isRestricted, type TokenRestriction } from '../callers/token-restriction.js';

/** Returns the effect that the route declares. By default, GET and HEAD read, and all other methods change something. */
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
