import { z } from 'zod';
import { OutboundError, type OutboundFetch } from '#platform/outbound';
import { GitHostError } from './git-host.js';
import type { ConnectedProvider } from './service-providers.js';

/** An OAuth application that is registered at a Git host. */
export type HostApplication = {
  readonly provider: ConnectedProvider;
  /** Address of the pages of the host, without a slash at its end. */
  readonly httpUrl: string;
  readonly key: string;
  readonly secret: string;
};

/** A token that a Git host has granted to an application. */
export type GrantedToken = {
  readonly text: string;
  /** Renews the token once; null if the host does not renew it. */
  readonly renewal: string | null;
  /** Null if the token does not expire. */
  readonly expiresInS: number | null;
};

type HostFlow = { readonly authorize: string; readonly token: string; readonly scope: string };

const github: HostFlow = { authorize: '/login/oauth/authorize', token: '/login/oauth/access_token', scope: 'repo' };
const gitlab: HostFlow = { authorize: '/oauth/authorize', token: '/oauth/token', scope: 'api' };
const gitea: HostFlow = { ...github, scope: 'read:user write:repository write:issue' };

const FLOWS: Readonly<Record<ConnectedProvider, HostFlow>> = {
  github,
  github_enterprise: github,
  gitlab_hosted: gitlab,
  gitlab_community_edition: gitlab,
  gitlab_enterprise_edition: gitlab,
  gitea,
  forgejo: gitea,
};

/** What a token can have, as in headers of requests. */
const tokenText = z.string().regex(/^[\x21-\x7e]{1,16384}$/);

const granted = z.object({
  access_token: tokenText,
  refresh_token: tokenText.nullish(),
  expires_in: z.number().int().positive().max(1_000_000_000).nullish(),
});

const refused = z.object({ error: z.string() });

/** Errors of RFC 6749 §5.2 and of GitHub that the same request always gets. */
const LASTING_ERRORS = [
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'bad_verification_code',
  'bad_refresh_token',
  'incorrect_client_credentials',
];

type HostAuthorizationRequest = {
  readonly redirectUri: string;
  readonly state: string;
  /** SHA-256 of the verifier (RFC 7636). Hosts without PKCE ignore it. */
  readonly challenge: string;
};

/** Returns the page of the host on which a person permits the application to use their account (RFC 6749 §4.1.1). */
export const buildAuthorizationAddress = (
  { provider, httpUrl, key }: Omit<HostApplication, 'secret'>,
  { redirectUri, state, challenge }: HostAuthorizationRequest,
): string => {
  const { authorize, scope } = FLOWS[provider];
  const parameters = new URLSearchParams({
    response_type: 'code',
    client_id: key,
    redirect_uri: redirectUri,
    scope,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  return `${httpUrl}${authorize}?${parameters.toString()}`;
};

/** Requests tokens of Git hosts for applications. All methods throw `GitHostError`. */
export class HostAuthorization {
  constructor(private readonly fetch: OutboundFetch) {}

  /** Exchanges the code with which the host has sent a browser back (RFC 6749 §4.1.3). */
  exchange(
    application: HostApplication,
    { code, redirectUri, verifier }: { readonly code: string; readonly redirectUri: string; readonly verifier: string },
  ): Promise<GrantedToken> {
    return this.request(application, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    });
  }

  /** Renews a token (RFC 6749 §6). */
  renew(application: HostApplication, renewal: string): Promise<GrantedToken> {
    return this.request(application, { grant_type: 'refresh_token', refresh_token: renewal });
  }

  private async request(
    { provider, httpUrl, key, secret }: HostApplication,
    parameters: Readonly<Record<string, string>>,
  ): Promise<GrantedToken> {
    const url = new URL(`${httpUrl}${FLOWS[provider].token}`);
    const response = await this.send(
      url,
      new URLSearchParams({ ...parameters, client_id: key, client_secret: secret }),
    );
    const body: unknown = await response.json().catch(() => null);
    const answer = granted.safeParse(body);
    if (response.ok && answer.success) {
      const { access_token: text, refresh_token: renewal, expires_in: expiresInS } = answer.data;
      return { text, renewal: renewal ?? null, expiresInS: expiresInS ?? null };
    }
    throw toTokenError(url.host, response, body);
  }

  private async send(url: URL, body: URLSearchParams): Promise<Response> {
    const headers = {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'Cadastre',
    };
    try {
      return await this.fetch(url.href, { method: 'POST', headers, body: body.toString() });
    } catch (error) {
      if (error instanceof OutboundError) throw new GitHostError('unavailable', error.message, null, error);
      throw error;
    }
  }
}

/** GitHub answers with the status 200 to requests that it refuses. The message contains nothing else that the host has sent. */
const toTokenError = (host: string, { status }: Response, body: unknown): GitHostError => {
  const error = refused.safeParse(body).data?.error ?? '';
  if (status < 500 && LASTING_ERRORS.includes(error))
    return new GitHostError('unauthorized', `${host} refused the application or its grant (${error})`);
  if (status === 429) return new GitHostError('rate-limited', `${host} limits the requests of this application`);
  const failure = status >= 500 ? 'unavailable' : 'unexpected';
  return new GitHostError(failure, `${host} granted no token, and answered with the status ${status}`);
};
