import type { IdentityClaims } from '../protocol/identity-claims.js';
import { ProviderFault } from '../protocol/provider-fault.js';

/** Seconds by which the clock of a provider may differ. */
export const CLOCK_TOLERANCE_SECONDS = 60;

/** What only this browser and this server know about a sign-in that has started. */
export type SignInChecks = {
  /** Sent back beside the answer: `state` of OpenID Connect, `RelayState` of SAML. */
  readonly state: string;
  /** Stated in the signed answer: `nonce` of OpenID Connect, the id of the request of SAML. */
  readonly nonce: string;
  /** The verifier of PKCE. SAML has none. */
  readonly verifier: string;
  /** The largest age of the authentication at the provider in seconds; null for any. */
  readonly maxAge: number | null;
};

/** A sign-in that starts: the address at the provider to which the browser goes. */
export type StartedSignIn = { readonly address: string; readonly checks: SignInChecks };

/**
 * Requires that the person has authenticated at the provider a short time ago: `auth_time` (OpenID Connect Core 1.0
 * §3.1.2.1), `AuthnInstant` of SAML. Not the library: its error does not say that the time is missing.
 */
export const requireRecent = ({ authenticatedAt }: IdentityClaims, maxAge: number, now: Date): void => {
  if (authenticatedAt === null) throw new ProviderFault('invalid', 'the ID token has no auth_time', true);
  if (Date.parse(authenticatedAt) + (maxAge + CLOCK_TOLERANCE_SECONDS) * 1_000 < now.getTime()) {
    throw new ProviderFault('invalid', 'auth_time is too old');
  }
};
