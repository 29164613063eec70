import { z } from 'zod';
import { formatRemovedCookie, formatStrictCookie, readCookie, type SignInTokens } from '#identity/sign-in';
import type { EndedSubject } from '../saml/redirect-requests.crypto.js';

const COOKIE = '__Host-cadastre-saml-session';
/** Longer than sessions here last: the session at the provider can last longer too. */
const LIFE_MS = 90 * 86_400_000;
/** Longer values would make the cookie larger than browsers accept. */
const MAX_TEXT = 255;

const sessionContent = z.object({
  provider: z.string(),
  subject: z.string(),
  subjectFormat: z.string().nullable(),
  sessionIndex: z.string().nullable(),
  hasQualifier: z.boolean(),
  hasServiceQualifier: z.boolean(),
});

/**
 * Remembers sessions at providers with SAML. The browser carries them in a signed cookie: the session here has ended when the
 * person signs out at the provider.
 */
export class SamlSessions {
  constructor(private readonly tokens: SignInTokens) {}

  /** Returns a value of Set-Cookie. */
  remember(provider: string, session: EndedSubject): string {
    const values = [session.subject, session.subjectFormat, session.sessionIndex];
    if (values.some((value) => (value?.length ?? 0) > MAX_TEXT)) return this.forget();
    return formatStrictCookie(COOKIE, this.tokens.sign('saml-session', { provider, ...session }, LIFE_MS), LIFE_MS);
  }

  /** Returns the session at this provider; null if the browser has none. */
  find(cookies: string | undefined, provider: string): EndedSubject | null {
    const session = this.tokens.read('saml-session', readCookie(cookies, COOKIE), sessionContent);
    return session?.provider === provider ? session : null;
  }

  forget(): string {
    return formatRemovedCookie(COOKIE);
  }
}
