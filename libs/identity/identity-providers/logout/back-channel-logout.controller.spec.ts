import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { JWTPayload } from 'jose';
import { register } from 'prom-client';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { startIdentityProvider, type TestIdentityProvider } from '../../../../test/support/identity-provider.js';
import { addIdentityProvider } from '../../../../test/support/identity-providers.js';
import { OidcVisitor } from '../../../../test/support/oidc-visitor.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';

const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} };

let server: TestServer;
let provider: TestIdentityProvider;
let acme: string;
let tokens = 0;

beforeAll(async () => {
  [server, provider] = await Promise.all([startTestServer({ clock: new AdjustableClock() }), startIdentityProvider()]);
  acme = await addIdentityProvider(server, provider, { 'creates-users': true });
});

afterAll(async () => {
  await provider.close();
  await server.close();
});

const signIn = async (subject: string): Promise<OidcVisitor> => {
  provider.putPerson(subject, { preferred_username: subject });
  const visitor = new OidcVisitor(server);
  expect((await visitor.signIn(acme, provider, subject)).status).toBe(303);
  return visitor;
};

const isSignedIn = async ({ client }: OidcVisitor) => (await client.get('/account')).status === 200;

/** Returns the provider's id of the session that has started last. */
const readProviderSession = async (): Promise<string> => {
  const { data } = (await readWholeLog(server.store)).findLast(({ type }) => type === 'SessionStarted') ?? { data: {} };
  return (data as { providerSession: string }).providerSession;
};

const buildClaims = (claims: Readonly<Record<string, unknown>>): JWTPayload => {
  tokens += 1;
  return { aud: 'cadastre', jti: `token-${tokens}`, events: EVENTS, ...claims } as JWTPayload;
};

const report = async (token: string | null, id = acme) => {
  const body = new URLSearchParams(token === null ? {} : { logout_token: token });
  const response = await fetch(`${server.url}/oauth/back-channel-logout/${id}`, { method: 'POST', body });
  return { status: response.status, cache: response.headers.get('cache-control'), text: await response.text() };
};

describe('a provider that ends a session', () => {
  it('ends the session here that it led to, and no other one', async () => {
    const ada = await signIn('ada');
    const sid = await readProviderSession();
    const bob = await signIn('bob');
    const reported = await report(await provider.signToken(buildClaims({ sid }), { typ: 'logout+jwt' }));
    expect([reported.status, reported.cache, reported.text]).toEqual([200, 'no-store', '']);
    expect([await isSignedIn(ada), await isSignedIn(bob)]).toEqual([false, true]);
    expect((await readWholeLog(server.store)).at(-1)).toMatchObject({
      type: 'SessionEnded',
      data: { reason: 'provider', username: 'ada' },
    });
  });

  it('ends all sessions of a person, if it names only the person', async () => {
    const [one, two] = [await signIn('carol'), await signIn('carol')];
    expect((await report(await provider.signToken(buildClaims({ sub: 'carol' })))).status).toBe(200);
    expect([await isSignedIn(one), await isSignedIn(two)]).toEqual([false, false]);
  });

  it('changes nothing for an unknown session, and for an unknown person', async () => {
    const before = (await readWholeLog(server.store)).length;
    for (const claims of [{ sid: 'unknown' }, { sub: 'unknown' }]) {
      expect((await report(await provider.signToken(buildClaims(claims)))).status).toBe(200);
    }
    expect(await readWholeLog(server.store)).toHaveLength(before);
  });
});

describe('a logout token', () => {
  it.each(['logout+jwt', 'Logout+JWT', 'application/logout+jwt', 'JWT', null])('can have the type %s', async (typ) => {
    expect((await report(await provider.signToken(buildClaims({ sub: 'nobody' }), { typ }))).status).toBe(200);
  });

  it('works after an error of the server', async () => {
    const hugo = await signIn('hugo');
    const token = await provider.signToken(buildClaims({ sub: 'hugo' }));
    const append = jest.spyOn(server.store, 'append').mockRejectedValueOnce(new Error('the disk is full'));
    expect((await report(token)).status).toBe(500);
    append.mockRestore();
    expect(await isSignedIn(hugo)).toBe(true);
    expect((await report(token)).status).toBe(200);
    expect(await isSignedIn(hugo)).toBe(false);
  });

  it('is counted by its result', async () => {
    const read = async (result: string): Promise<number> => {
      const text = await register.getSingleMetricAsString('cadastre_identity_provider_logouts_total');
      return Number(new RegExp(`provider="${acme}",result="${result}"\\} (\\d+)`).exec(text)?.[1] ?? 0);
    };
    const before = [await read('accepted'), await read('invalid')];
    await report(await provider.signToken(buildClaims({ sub: 'nobody' })));
    await report('no token');
    expect([await read('accepted'), await read('invalid')]).toEqual(before.map((count) => count + 1));
  });
});

describe('a logout token is refused', () => {
  it.each<[string, Readonly<Record<string, unknown>>]>([
    ['for another audience', { aud: 'another-client' }],
    ['of another issuer', { iss: 'https://id.attacker.example' }],
    ['with a nonce, like an ID token', { nonce: 'n' }],
    ['without the event', { events: {} }],
    ['without any events', { events: undefined }],
    ['without an id', { jti: undefined }],
    ['that names nobody', { sub: undefined }],
    ['that has expired', { exp: 1 }],
    ['that is older than two minutes', { iat: Math.floor(Date.now() / 1_000) - 190 }],
    ['of the future', { iat: Math.floor(Date.now() / 1_000) + 600 }],
  ])('%s', async (_, claims) => {
    const dora = await signIn('dora');
    const reported = await report(await provider.signToken(buildClaims({ sub: 'dora', ...claims })));
    expect([reported.status, JSON.parse(reported.text)]).toEqual([
      400,
      { error: 'invalid_request', error_description: expect.stringMatching(/^logout_token: is not accepted: /) },
    ]);
    expect(await isSignedIn(dora)).toBe(true);
  });

  it('of a key that the provider does not publish, and without a signature', async () => {
    const eve = await signIn('eve');
    const claims = buildClaims({ sub: 'eve' });
    const [, payload] = (await provider.signToken(claims)).split('.');
    const header = Buffer.from('{"alg":"none"}').toString('base64url');
    for (const token of [
      await provider.signToken(claims, { key: 'unpublished' }),
      `${header}.${payload}.`,
      'no token',
    ]) {
      expect((await report(token)).status).toBe(400);
    }
    expect(await isSignedIn(eve)).toBe(true);
  });

  it('with the type of another token', async () => {
    for (const typ of ['at+jwt', 'secevent+jwt', '']) {
      const token = await provider.signToken(buildClaims({ sub: 'nobody' }), { typ });
      expect([typ, (await report(token)).text]).toEqual([typ, expect.stringContaining('typ must be logout+jwt')]);
    }
  });

  it('the second time', async () => {
    const token = await provider.signToken(buildClaims({ sub: 'fred' }));
    await signIn('fred');
    expect((await report(token)).status).toBe(200);
    const fred = await signIn('fred');
    expect((await report(token)).text).toContain('was used before');
    expect(await isSignedIn(fred)).toBe(true);
  });

  it('if it is missing, or too long, or for an unknown provider', async () => {
    expect((await report(null)).status).toBe(400);
    expect((await report('x'.repeat(16_385))).status).toBe(400);
    const unknown = await report('token', 'idp-0000000000000000');
    expect([unknown.status, JSON.parse(unknown.text)]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'There is no such identity provider' },
    ]);
  });
});
