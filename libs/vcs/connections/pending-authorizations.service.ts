import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { Actor } from '#api/access';
import { formatCookie, formatRemovedCookie, readCookie, SignInTokens, useChallenge } from '#identity/sign-in';
import { Database } from '#platform/postgres';

/** Binds an authorization to the browser in which it started. */
const COOKIE = '__Host-cadastre-vcs';

const LIFE_MS = 10 * 60_000;

/** As many characters as a verifier needs (RFC 7636 §4.1). */
const createSecret = (): string => randomBytes(32).toString('base64url');

const pendingContent = z.object({
  client: z.string(),
  /** The session in which it started. */
  session: z.string(),
  state: z.string(),
  verifier: z.string(),
});

type PendingAuthorization = z.infer<typeof pendingContent>;

/** What the address at the Git host contains, and the header Set-Cookie. */
type StartedAuthorization = { readonly state: string; readonly challenge: string; readonly cookie: string };

/**
 * Remembers authorizations that have started. The browser carries them in a signed cookie. Ended ones are stored until they
 * expire, so that each ends once.
 */
@Injectable()
export class PendingAuthorizations {
  constructor(
    private readonly database: Database,
    private readonly tokens: SignInTokens,
  ) {}

  start(client: string, { token: session }: Actor): StartedAuthorization {
    const [state, verifier] = [createSecret(), createSecret()];
    const pending = { client, session: session ?? '', state, verifier } satisfies PendingAuthorization;
    return {
      state,
      challenge: createHash('sha256').update(verifier).digest('base64url'),
      cookie: formatCookie(COOKIE, this.tokens.sign('git-host', pending, LIFE_MS), LIFE_MS),
    };
  }

  /** Returns the authorization with this state, once; null if this session has not started it, or too long ago. */
  async use(
    cookies: string | undefined,
    state: unknown,
    { token: session }: Actor,
  ): Promise<PendingAuthorization | null> {
    const pending = this.tokens.read('git-host', readCookie(cookies, COOKIE), pendingContent);
    if (pending === null || pending.state !== state || pending.session !== session) return null;
    const now = this.tokens.clock.now();
    const expiredAt = new Date(now.getTime() + LIFE_MS);
    return (await useChallenge(this.database, `vcs ${pending.state}`, { now, expiredAt })) ? pending : null;
  }

  /** Returns the header Set-Cookie that removes the cookie. */
  forget(): string {
    return formatRemovedCookie(COOKIE);
  }
}
