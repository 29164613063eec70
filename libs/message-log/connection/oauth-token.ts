import { z } from 'zod';

export type ClientCredentials = {
  /** The token endpoint. */
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
};

type AccessToken = { readonly value: string; /** Milliseconds since 1970. */ readonly renewAt: number };

const REQUEST_TIMEOUT_MS = 10_000;
/**
 * A token is renewed when this part of its lifetime is left, or this time if that is more: kafkajs authenticates again
 * 10 s before the end, and needs a token that lasts longer by then.
 */
const RENEWAL_FRACTION = 0.25;
const RENEWAL_MIN_MS = 20_000;

// RFC 6749, section 5.1. Some servers write the lifetime as text.
const issued = z.object({ access_token: z.string().min(1), expires_in: z.coerce.number().positive().optional() });
// Section 5.2. The description may repeat what was sent, so that only the code goes into messages.
const refused = z.object({ error: z.string().regex(/^[\w.-]{1,64}$/) });

export type TokenSource = {
  /** Resolves to the token that it keeps, or to a new one. Errors contain no secret. */
  readonly token: () => Promise<string>;
  /** Forgets the token: it was refused. */
  readonly discard: () => void;
};

/** Gets access tokens by the client credentials grant (RFC 6749, section 4.4). Calls at the same time share one request. */
export const createTokenSource = (credentials: ClientCredentials, now: () => number = Date.now): TokenSource => {
  let kept: AccessToken | null = null;
  let request: Promise<AccessToken> | null = null;
  return {
    token: async () => {
      if (kept && now() < kept.renewAt) return kept.value;
      request ??= requestToken(credentials, now()).finally(() => (request = null));
      kept = await request;
      return kept.value;
    },
    discard: () => {
      kept = null;
    },
  };
};

const requestToken = async (credentials: ClientCredentials, now: number): Promise<AccessToken> => {
  const { tokenUrl, scope } = credentials;
  const response = await send(tokenUrl, {
    method: 'POST',
    headers: { authorization: basic(credentials), accept: 'application/json' },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope === null ? {} : { scope }) }),
    // Credentials are for this address alone.
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
    // fetch itself says no more than "fetch failed".
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new Error(`the token endpoint ${url} cannot be reached: ${reason}`, { cause: error });
  }
};

/** RFC 6749, section 2.3.1: both parts are form-encoded first. */
const basic = ({ clientId, clientSecret }: ClientCredentials): string => {
  const encoded = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);
  return `Basic ${Buffer.from(`${encoded(clientId)}:${encoded(clientSecret)}`).toString('base64')}`;
};
