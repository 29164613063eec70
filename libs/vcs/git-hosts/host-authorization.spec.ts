import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { OutboundError, type OutboundFetch } from '#platform/outbound';
import { buildAuthorizationAddress, HostAuthorization } from './host-authorization.http.js';
import type { ConnectedProvider } from './service-providers.js';

const REDIRECT = 'https://cadastre.example.com/auth/vcs/callback/git.example.com';
const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const application = (provider: ConnectedProvider) => ({
  provider,
  httpUrl: 'https://git.example.com',
  key: 'the-key',
  secret: 'the-secret',
});

/** Parameters of a request for a token, by RFC 6749 §4.1.3 and §6, and RFC 7636 §4.5. */
const PARAMETERS = {
  authorization_code: ['client_id', 'client_secret', 'code', 'code_verifier', 'grant_type', 'redirect_uri'],
  refresh_token: ['client_id', 'client_secret', 'grant_type', 'refresh_token'],
} as const;

type Answer = { readonly status?: number; readonly body: unknown };

/** Answers as a host does, and refuses requests that have not exactly the parameters of the RFCs. */
const createHost = (path: string, answer: Answer) => {
  const requests: Record<string, string>[] = [];
  const fetch: OutboundFetch = async (url, { method, headers, body } = {}) => {
    const sent = Object.fromEntries(new URLSearchParams(String(body)));
    expect([String(url), method]).toEqual([`https://git.example.com${path}`, 'POST']);
    expect(new Headers(headers).get('content-type')).toBe('application/x-www-form-urlencoded');
    expect(new Headers(headers).get('accept')).toBe('application/json');
    expect(Object.keys(sent).toSorted()).toEqual(PARAMETERS[sent['grant_type'] as keyof typeof PARAMETERS]);
    expect(sent).toMatchObject({ client_id: 'the-key', client_secret: 'the-secret' });
    requests.push(sent);
    return new Response(JSON.stringify(answer.body), { status: answer.status ?? 200 });
  };
  return { host: new HostAuthorization(fetch), requests };
};

const code = { code: 'the-code', redirectUri: REDIRECT, verifier: VERIFIER };

describe.each<[ConnectedProvider, { authorize: string; token: string; scope: string }]>([
  ['github', { authorize: '/login/oauth/authorize', token: '/login/oauth/access_token', scope: 'repo' }],
  ['github_enterprise', { authorize: '/login/oauth/authorize', token: '/login/oauth/access_token', scope: 'repo' }],
  ['gitlab_hosted', { authorize: '/oauth/authorize', token: '/oauth/token', scope: 'api' }],
  [
    'gitea',
    {
      authorize: '/login/oauth/authorize',
      token: '/login/oauth/access_token',
      scope: 'read:user write:repository write:issue',
    },
  ],
])('the authorization at a host of the kind %s', (provider, { authorize, token, scope }) => {
  it('begins at a page that gets the challenge and not the secret', () => {
    const url = new URL(
      buildAuthorizationAddress(application(provider), { redirectUri: REDIRECT, state: 's', challenge: CHALLENGE }),
    );
    expect([url.origin, url.pathname]).toEqual(['https://git.example.com', authorize]);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'the-key',
      redirect_uri: REDIRECT,
      scope,
      state: 's',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
    });
  });

  it('exchanges the code, and renews the token', async () => {
    const body = { access_token: 'a', token_type: 'bearer', refresh_token: 'r', expires_in: 7_200 };
    const { host, requests } = createHost(token, { body });
    const granted = { text: 'a', renewal: 'r', expiresInS: 7_200 };
    expect(await host.exchange(application(provider), code)).toEqual(granted);
    expect(await host.renew(application(provider), 'former')).toEqual(granted);
    expect(requests).toMatchObject([{ code: 'the-code', code_verifier: VERIFIER }, { refresh_token: 'former' }]);
  });

  it('gets a token that does not expire', async () => {
    // As an OAuth app of GitHub answers.
    const { host } = createHost(token, { body: { access_token: 'a', scope: 'repo', token_type: 'bearer' } });
    expect(await host.exchange(application(provider), code)).toEqual({ text: 'a', renewal: null, expiresInS: null });
  });

  it.each<[string, Answer, string]>([
    ['GitHub refuses the code', { body: { error: 'bad_verification_code' } }, 'unauthorized'],
    ['GitHub refuses the secret', { body: { error: 'incorrect_client_credentials' } }, 'unauthorized'],
    ['the grant was revoked', { status: 400, body: { error: 'invalid_grant' } }, 'unauthorized'],
    ['the secret is wrong', { status: 401, body: { error: 'invalid_client' } }, 'unauthorized'],
    ['the host limits requests', { status: 429, body: {} }, 'rate-limited'],
    ['the host has a fault', { status: 502, body: { error: 'invalid_grant' } }, 'unavailable'],
    ['the host sends a page', { body: '<html>' }, 'unexpected'],
    ['the token has a line break', { body: { access_token: 'a\nb' } }, 'unexpected'],
  ])('fails if %s', async (_, answer, failure) => {
    const { host } = createHost(token, answer);
    await expect(host.renew(application(provider), 'former')).rejects.toMatchObject({ failure });
  });
});

it('repeats nothing that a host has sent except known errors', async () => {
  const { host } = createHost('/oauth/token', { status: 400, body: { error: 'secret-of-somebody' } });
  const refused = host.renew(application('gitlab_hosted'), 'former');
  await expect(refused).rejects.toMatchObject({ message: expect.not.stringContaining('secret') });
});

it('fails for now if the host cannot be reached', async () => {
  const host = new HostAuthorization(() => Promise.reject(new OutboundError('git.example.com', 'timeout')));
  await expect(host.renew(application('gitea'), 'r')).rejects.toMatchObject({ failure: 'unavailable' });
});
