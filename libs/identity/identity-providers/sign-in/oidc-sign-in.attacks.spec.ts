import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SESSION_COOKIE } from '#api/access';
import { sql } from '#platform/kernel';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { startIdentityProvider, type TestIdentityProvider } from '../../../../test/support/identity-provider.js';
import { addIdentityProvider, CLIENT_SECRET } from '../../../../test/support/identity-providers.js';
import { OidcVisitor } from '../../../../test/support/oidc-visitor.js';
import { expectStatus, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { OIDC_COOKIE } from './pending-sign-ins.service.js';

const clock = new AdjustableClock();
let server: TestServer;
let provider: TestIdentityProvider;
let other: TestIdentityProvider;
let acme: string;
let rival: string;

beforeAll(async () => {
  [server, provider, other] = await Promise.all([
    startTestServer({ clock }),
    startIdentityProvider(),
    startIdentityProvider(),
  ]);
  acme = await addIdentityProvider(server, provider, { 'creates-users': true });
  rival = await addIdentityProvider(server, other, { name: 'Rival', 'creates-users': true });
});

afterAll(async () => {
  await Promise.all([provider.close(), other.close()]);
  await server.close();
});

afterEach(async () => {
  for (const one of [provider, other]) {
    one.forgeIdTokens(null);
    one.setAway(false);
  }
  await server.database.rows(sql`delete from sign_in.attempts`);
});

const configure = async (attributes: object, id = acme): Promise<void> => {
  const path = `/api/v2/admin/identity-providers/${id}`;
  expectStatus(await server.patch(path, resource('identity-providers', attributes)), 200);
};

const open = () => new OidcVisitor(server);
const countEvents = async () => (await readWholeLog(server.store)).length;
const titleOf = async (response: Response) => /<h1>([^<]*)<\/h1>/.exec(await response.text())?.[1];

/** Expects that the person is not signed in, and that nothing was appended. */
const expectRefusal = async (visitor: OidcVisitor, response: Response, before: number, status = 400) => {
  expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
  expect(visitor.client.getCookie(SESSION_COOKIE)).toBeUndefined();
  expect(await countEvents()).toBe(before);
};

beforeAll(() => {
  provider.putPerson('p-ada', { preferred_username: 'ada' });
  provider.putPerson('p-victim', { preferred_username: 'victim' });
});

const now = () => Math.floor(clock.now().getTime() / 1_000);
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

const signWithSecret = (claims: object): string => {
  const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${content}.${createHmac('sha256', CLIENT_SECRET).update(content).digest('base64url')}`;
};

describe('a sign-in is refused, and nothing changes,', () => {
  it.each<[string, Parameters<TestIdentityProvider['forgeIdTokens']>[0]]>([
    ['with the nonce of another sign-in', { claims: (claims) => ({ ...claims, nonce: 'of-another-one' }) }],
    ['without a nonce', { claims: (claims) => ({ ...claims, nonce: undefined }) }],
    ['with an expired token', { claims: (claims) => ({ ...claims, iat: now() - 600, exp: now() - 61 }) }],
    ['without an expiry', { claims: (claims) => ({ ...claims, exp: undefined as never }) }],
    ['with a token that is not valid yet', { claims: (claims) => ({ ...claims, nbf: now() + 120 }) }],
    ['with a token of an hour ahead', { claims: (claims) => ({ ...claims, iat: now() + 3_600, exp: now() + 7_200 }) }],
    ['with an unknown key', { key: 'unpublished' }],
    ['for another client', { claims: (claims) => ({ ...claims, aud: 'another-client' }) }],
    ['for this client and others, without azp', { claims: (claims) => ({ ...claims, aud: ['cadastre', 'other'] }) }],
    ['of another issuer', { claims: (claims) => ({ ...claims, iss: other.issuer }) }],
    ['without a subject', { claims: (claims) => ({ ...claims, sub: undefined as never }) }],
    ['without a signature', { token: (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.` }],
    ['with a signature of the client’s secret', { token: signWithSecret }],
    [
      'with a token of the right form and another signature',
      {
        token: async (claims) => (await provider.signToken(claims)).replace(/\.[^.]+$/, `.${'A'.repeat(342)}`),
      },
    ],
    ['with no token', { token: () => '' }],
  ])('%s', async (_, forgery) => {
    const before = await countEvents();
    const visitor = open();
    provider.forgeIdTokens(forgery);
    const response = await visitor.signIn(acme, provider, 'p-victim');
    expect(await titleOf(response.clone() as Response)).toBe('The answer of Acme is not valid');
    await expectRefusal(visitor, response, before);
  });

  it('if the code was used already', async () => {
    const visitor = open();
    const path = await visitor.authenticate(provider, await visitor.start(acme), 'p-ada');
    const again = open();
    again.client.setCookie(OIDC_COOKIE, visitor.client.getCookie(OIDC_COOKIE) ?? '');
    expect((await visitor.client.get(path)).status).toBe(303);
    // The same browser, and a copy of its cookies.
    expect((await visitor.client.get(path)).status).toBe(400);
    const before = await countEvents();
    await expectRefusal(again, await again.client.get(path), before);
  });

  it('once only, if the callback comes twice at the same time', async () => {
    const visitor = open();
    const path = await visitor.authenticate(provider, await visitor.start(acme), 'p-ada');
    const responses = await Promise.all([visitor.client.get(path), visitor.client.get(path)]);
    expect(responses.map(({ status }) => status).toSorted()).toEqual([303, 400]);
  });

  it('if a code of another sign-in is injected', async () => {
    const attacker = open();
    const stolen = await attacker.authenticate(provider, await attacker.start(acme), 'p-ada');
    const victim = open();
    const own = await victim.authenticate(provider, await victim.start(acme), 'p-victim');
    const injected = new URL(own, server.url);
    injected.searchParams.set('code', new URL(stolen, server.url).searchParams.get('code') ?? '');
    const before = await countEvents();
    const response = await victim.client.get(`${injected.pathname}${injected.search}`);
    // PKCE: the provider refuses a code that was issued for another verifier.
    expect(await titleOf(response.clone() as Response)).toBe('Acme did not sign you in');
    await expectRefusal(victim, response, before, 403);
  });

  it('if the state comes from another browser', async () => {
    const attacker = open();
    const path = await attacker.authenticate(provider, await attacker.start(acme), 'p-ada');
    const before = await countEvents();
    const victim = open();
    await expectRefusal(victim, await victim.client.get(path), before);
    await victim.start(acme);
    const response = await victim.client.get(path);
    expect(await titleOf(response.clone() as Response)).toBe('Please start again');
    await expectRefusal(victim, response, before);
  });

  it('if it took longer than ten minutes', async () => {
    const visitor = open();
    const path = await visitor.authenticate(provider, await visitor.start(acme), 'p-ada');
    const before = await countEvents();
    clock.pass({ minutes: 10 });
    await expectRefusal(visitor, await visitor.client.get(path), before);
  });

  it.each([
    ['another provider', () => other.issuer],
    ['nobody', () => null],
  ])('if the answer comes from %s', async (_, issuer) => {
    const visitor = open();
    const path = new URL(await visitor.authenticate(provider, await visitor.start(acme), 'p-ada'), server.url);
    const iss = issuer();
    if (iss === null) path.searchParams.delete('iss');
    else path.searchParams.set('iss', iss);
    const before = await countEvents();
    await expectRefusal(visitor, await visitor.client.get(`${path.pathname}${path.search}`), before);
  });

  it('if one provider answers for a sign-in with the other one', async () => {
    other.putPerson('p-ada', { preferred_username: 'impostor' });
    const visitor = open();
    const started = await visitor.start(acme);
    const state = new URL(started).searchParams.get('state') ?? '';
    const elsewhere = open();
    const path = new URL(await elsewhere.authenticate(other, await elsewhere.start(rival), 'p-ada'), server.url);
    path.searchParams.set('state', state);
    const before = await countEvents();
    await expectRefusal(visitor, await visitor.client.get(`${path.pathname}${path.search}`), before);
  });

  it('if the person cancels, and the page shows nothing that the provider sent besides a code', async () => {
    const visitor = open();
    const state = new URL(await visitor.start(acme)).searchParams.get('state') ?? '';
    const query = new URLSearchParams({
      state,
      iss: provider.issuer,
      error: '<script>alert(1)</script>',
      error_description: 'Call 555-0100 and read out your password',
    });
    const before = await countEvents();
    const response = await visitor.client.get(`/sign-in/oidc/${acme}/callback?${query.toString()}`);
    const text = await response.clone().text();
    expect(text).toContain('It answered with the error unknown_error.');
    expect(text).not.toMatch(/<script>alert|555-0100/);
    await expectRefusal(visitor, response, before, 403);
  });

  it.each([
    '/sign-in/oidc/idp-settings/callback',
    '/sign-in/oidc/idp-settings/callback?state=1&code=2',
    '/sign-in/oidc/idp-settings/callback?state=1&state=2',
  ])('if nothing has started: %s', async (path) => {
    const before = await countEvents();
    const visitor = open();
    await expectRefusal(visitor, await visitor.client.get(path), before);
  });

  it('if the provider is unknown or not enabled', async () => {
    expect((await open().client.get('/sign-in/oidc/idp-0000000000000000')).status).toBe(404);
    const visitor = open();
    const path = await visitor.authenticate(provider, await visitor.start(acme), 'p-ada');
    await configure({ enabled: false });
    expect((await visitor.client.get('/sign-in/oidc/' + acme)).status).toBe(404);
    const before = await countEvents();
    await expectRefusal(visitor, await visitor.client.get(path), before);
    await configure({ enabled: true });
  });

  it('and the next attempts of the address wait', async () => {
    provider.forgeIdTokens({ key: 'unpublished' });
    const statuses = [];
    for (let attempt = 0; attempt < 52; attempt += 1)
      statuses.push((await open().signIn(acme, provider, 'p-victim')).status);
    expect(statuses.filter((status) => status === 400).length).toBeGreaterThan(20);
    // The clock runs: a later attempt can come after the first wait.
    expect(statuses).toContain(429);
    // Nobody can guess a signature, so a person that the provider has proved does not wait.
    provider.forgeIdTokens(null);
    expect((await open().signIn(acme, provider, 'p-ada')).status).toBe(303);
    // An outage of the provider does not count.
    await server.database.rows(sql`delete from sign_in.attempts`);
    const visitor = open();
    const path = await visitor.authenticate(provider, await visitor.start(acme), 'p-ada');
    provider.setAway(true);
    expect((await visitor.client.get(path)).status).toBe(503);
    expect(await server.database.rows(sql`select 1 from sign_in.attempts`)).toEqual([]);
  });

  it('and refusals of a person are recorded only until the address must wait', async () => {
    expect((await open().signIn(acme, provider, 'p-ada')).status).toBe(303);
    await configure({ 'allowed-groups': ['none'] });
    const before = await countEvents();
    const statuses = [];
    for (let attempt = 0; attempt < 52; attempt += 1)
      statuses.push((await open().signIn(acme, provider, 'p-ada')).status);
    expect(statuses.filter((status) => status === 403).length).toBe(50);
    expect(statuses.at(-1)).toBe(429);
    const failed = (await readWholeLog(server.store)).slice(before).filter(({ type }) => type === 'SignInFailed');
    expect(failed).toHaveLength(50);
    await configure({ 'allowed-groups': [] });
  });
});

describe('a provider that announces unsafe algorithms', () => {
  // The server reads the document again after ten minutes.
  beforeAll(() => {
    clock.pass({ minutes: 10 });
    const algorithms = ['RS256', 'HS256', 'none'];
    provider.changeMetadata((metadata) => ({ ...metadata, id_token_signing_alg_values_supported: algorithms }));
  });

  afterAll(() => {
    provider.changeMetadata(null);
    clock.pass({ minutes: 10 });
  });

  it.each<[string, (claims: object) => string]>([
    ['no signature', (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`],
    ['a signature of the client’s secret', signWithSecret],
  ])('signs nobody in with %s', async (_, token) => {
    provider.forgeIdTokens({ token });
    const before = await countEvents();
    const visitor = open();
    await expectRefusal(visitor, await visitor.signIn(acme, provider, 'p-victim'), before);
  });
});

describe('a token', () => {
  it('may be a minute early or late', async () => {
    for (const minutes of [50, -50]) {
      provider.forgeIdTokens({
        claims: (claims) => ({ ...claims, iat: now() + minutes, exp: now() - 50, nbf: now() + minutes }),
      });
      expect((await open().signIn(acme, provider, 'p-ada')).status).toBe(303);
    }
  });

  it('is valid with a new key of the provider at once, and with the old key no more', async () => {
    clock.pass({ minutes: 1 });
    expect((await open().signIn(acme, provider, 'p-ada')).status).toBe(303);
    await provider.rotateKeys();
    expect((await open().signIn(acme, provider, 'p-ada')).status).toBe(303);
  });

  it('with an unknown key makes the server read the keys at most twice a minute', async () => {
    clock.pass({ minutes: 1 });
    provider.forgeIdTokens({ key: 'unpublished' });
    const countReads = () => provider.requests.filter((path) => path === '/jwks').length;
    const before = countReads();
    for (let attempt = 0; attempt < 5; attempt += 1) await open().signIn(acme, provider, 'p-victim');
    expect(countReads()).toBe(before + 1);
  });
});
