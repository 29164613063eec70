import { z } from 'zod';
import { formatCookie, formatRemovedCookie, readCookie, useChallenge, type SignInTokens } from '#identity/sign-in';
import type { Database } from '#platform/postgres';
import type { SignInChecks } from './sign-in-checks.js';

/** Binds a sign-in to the browser in which it started. */
export const OIDC_COOKIE = '__Host-cadastre-oidc';

const LIFE_MS = 10 * 60_000;
/** Longer paths would make the cookie larger than browsers accept. */
const MAX_RETURN_PATH = 800;

/** What happens after the person comes back. `link`: the session whose account gets linked; null for a sign-in. */
export type SignInPurpose = {
  readonly returnTo: string | null;
  readonly link: { readonly user: string; readonly session: string } | null;
  /** Whether a person with a session proves again who they are. */
  readonly confirms: boolean;
};

const pendingContent = z.object({
  provider: z.string(),
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  maxAge: z.number().nullable(),
  confirms: z.boolean(),
  returnTo: z.string().nullable(),
  link: z.object({ user: z.string(), session: z.string() }).nullable(),
});

export type PendingProviderSignIn = SignInChecks & SignInPurpose & { readonly provider: string };

/**
 * Remembers sign-ins that have started. The browser carries them in a signed cookie, so that requests without a session
 * store nothing. Ended ones are stored until they expire, so that each ends once.
 */
export class PendingSignIns {
  constructor(
    private readonly database: Database,
    private readonly tokens: SignInTokens,
  ) {}

  /** Returns a value of Set-Cookie. The browser forgets another sign-in that it has started. */
  remember({ returnTo, ...pending }: PendingProviderSignIn): string {
    const path = returnTo !== null && returnTo.length <= MAX_RETURN_PATH ? returnTo : null;
    const token = this.tokens.sign('oidc', { ...pending, returnTo: path }, LIFE_MS);
    return formatCookie(OIDC_COOKIE, token, LIFE_MS);
  }

  /** Returns the sign-in with this state, once; null if the browser has not started it, or too long ago. */
  async use(cookies: string | undefined, state: unknown): Promise<PendingProviderSignIn | null> {
    const pending = this.tokens.read('oidc', readCookie(cookies, OIDC_COOKIE), pendingContent);
    if (pending?.state !== state || !pending) return null;
    const now = this.tokens.clock.now();
    const challenge = `oidc ${pending.state}`;
    const isFirst = await useChallenge(this.database, challenge, { now, expiredAt: new Date(now.getTime() + LIFE_MS) });
    return isFirst ? pending : null;
  }

  /** Returns the value of Set-Cookie that removes the cookie of a sign-in that has ended. */
  forget(): string {
    return formatRemovedCookie(OIDC_COOKIE);
  }
}
