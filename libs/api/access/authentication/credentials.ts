import type { Timestamp } from '#platform/kernel';

/** The prefix makes browsers accept the cookie only from this host over HTTPS, for all paths (RFC 6265bis §4.1.3.2). */
export const SESSION_COOKIE = '__Host-cadastre-session';

const BEARER = /^Bearer +(\S+)$/i;
const COOKIE = new RegExp(`(?:^|; *)${SESSION_COOKIE}=([\\w.-]{1,500})(?:;|$)`);

type CredentialHeaders = {
  readonly headers: { readonly authorization?: string | undefined; readonly cookie?: string | undefined };
};

export const getBearerToken = ({ headers }: CredentialHeaders): string | undefined =>
  BEARER.exec(headers.authorization ?? '')?.[1];

/**
 * Returns the credential that stands for a session's secret wherever a token can stand. No bearer token contains a
 * space, so nobody can send the secret of a cookie as a token.
 */
export const toSessionCredential = (secret: string): string => `session ${secret}`;

/** Returns the credential of the session cookie; undefined without a cookie. */
export const getSessionCredential = ({ headers: { cookie } }: CredentialHeaders): string | undefined => {
  const secret = cookie === undefined ? undefined : COOKIE.exec(cookie)?.[1];
  return secret === undefined ? undefined : toSessionCredential(secret);
};

/** Returns the token of a request, or the credential of its session. The cookie counts only without a token. */
export const getCredential = (request: CredentialHeaders): string | undefined =>
  request.headers.authorization === undefined ? getSessionCredential(request) : getBearerToken(request);

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/** Returns the header Set-Cookie that starts a session in the browser. */
export const formatSessionCookie = (secret: string, expiredAt: Timestamp): string =>
  `${SESSION_COOKIE}=${secret}; ${ATTRIBUTES}; Expires=${new Date(expiredAt).toUTCString()}`;

/** Returns the header Set-Cookie that removes the cookie from the browser. */
export const formatEndedSessionCookie = (): string => `${SESSION_COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;
