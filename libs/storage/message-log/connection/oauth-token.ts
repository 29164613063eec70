import { z } from 'zod';

export type ClientCredentials = {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
};

type AccessToken = { readonly value: string; /** Milliseconds since 1970. */ readonly renewAt: number };

const REQUEST_TIMEOUT_MS = 10_000;
/**
 * A token is renewed when this fraction of its lifetime is left, or this time if that is more. kafkajs authenticates
 * again 10 s before a token expires, and then needs a token that lasts longer.
 */
const RENEWAL_FRACTION = 0.25;
const RENEWAL_MIN_MS = 20_000;

// RFC 6749, section 5.1. Some servers send the lifetime as a string.
const issued = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().positive().optional() });
// Section 5.2. The description may repeat parts of the request, so only the code is used in messages.
const refused = z.object({ error: z.string().regex(/^[\w.-]{1,64}$/) });

export type TokenSource = {
  /** Resolves to the cached token or to a new one. Errors contain no secret. */
  readonly token: () => Promise<string>;
  /** Drops the cached token, which a broker refused. */
  readonly discard: () => void;
};

/**
 * Returns a source of access tokens by the client credentials grant (RFC 6749, section 4.4). Concurrent calls share one
 * request.
 */
export const createTokenSource = (credentials: ClientCredentials, now: () => number = Date.now): TokenSource => {
  let cached: AccessToken | null = null;
  let request: Promise<AccessToken> | null = null;
  return {
    token: async () => {
      if (cached && now() < cached.renewAt) return cached.value;
      request ??= requestToken(credentials, now()).finally(() => (request = null));
      cached = await request;
      return cached.value;
    },
    discard: () => {
      cached = null;
    },
  };
};

const requestToken = async (credentials: ClientCredentials, now: number): Promise<AccessToken> => {
  const { tokenUrl, scope } = credentials;
  const response = await send(tokenUrl, {
    method: 'POST',
    headers: { authorization: basic(credentials), accept: 'application/json' },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope === null ? {} : { scope }) }),
    // The credentials must not be sent to another address.
    redirect: 'error',
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) {
    const code = refused.safeParse(body).data?.error;
    throw new Error(`the token endpoint ${tokenUrl} answered ${response.status}${code ? ` (${code})` : ''}`);
  }
  const { data } = issued.safeParse(body);
  if (!data) throw new Error(`the token endpoint ${tokenUrl} answered without an access token`);
  const lifetime = (data.expires_in ?? 0) * 1_000;
  return { value: data.access_token, renewAt: now + lifetime - Math.max(lifetime * RENEWAL_FRACTION, RENEWAL_MIN_MS) };
};

const send = async (url: string, request: RequestInit): Promise<Response> => {
  try {
    return await fetch(url, request);
  } catch (error) {
    // The message of fetch is only "fetch failed".
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new Error(`the token endpoint ${url} cannot be reached: ${reason}`, { cause: error });
  }
};

/** Returns the Basic credentials. Both parts are form-encoded first (RFC 6749, section 2.3.1). */
const basic = ({ clientId, clientSecret }: ClientCredentials): string => {
  const encoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64')}`;
};
