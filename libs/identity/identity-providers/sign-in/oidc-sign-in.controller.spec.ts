import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SESSION_COOKIE } from '#api/access';
import { sql } from '#platform/kernel';
import { ensureUser, makeOwner, setEmail } from '#identity/people';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { startIdentityProvider, type TestIdentityProvider } from '../../../../test/support/identity-provider.js';
import { addIdentityProvider, putTestClient } from '../../../../test/support/identity-providers.js';
import { OidcVisitor } from '../../../../test/support/oidc-visitor.js';
import { expectStatus, makeOrganization, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';

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
const outcomeOf = (response: Response) => [response.status, response.headers.get('location')];
const isSignedIn = async ({ client }: OidcVisitor) => (await client.get('/account')).status === 200;
const listRefusals = async () => (await readWholeLog(server.store)).filter(({ type }) => type === 'SignInRefused');
const countEvents = async () => (await readWholeLog(server.store)).length - (await listRefusals()).length;
const findUser = (username: string) =>
  server.database.row<{ id: string; email: string | null }>(
    sql`select id, email from users where username = ${username}`,
  );
const titleOf = async (response: Response) => /<h1>([^<]*)<\/h1>/.exec(await response.text())?.[1];

/** Expects that the person is not signed in, and that nothing was appended except the refusal. */
const expectRefusal = async (visitor: OidcVisitor, response: Response, before: number, status = 400) => {
  expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
  expect(visitor.client.getCookie(SESSION_COOKIE)).toBeUndefined();
  expect(await countEvents()).toBe(before);
};

describe('the first sign-in of a person', () => {
  it('creates the account, and the next one finds it', async () => {
    provider.putPerson('p-ada', {
      preferred_username: 'ada',
      email: 'ada@example.com',
      email_verified: true,
      groups: [],
    });
    await configure({ 'allowed-domains': ['example.com'] });
    const visitor = open();
    expect(outcomeOf(await visitor.signIn(acme, provider, 'p-ada', '?return_to=/account'))).toEqual([303, '/account']);
    expect(await isSignedIn(visitor)).toBe(true);
    const ada = await findUser('ada');
    expect(ada?.email).toBe('ada@example.com');
    const events = (await readWholeLog(server.store)).slice(-3);
    expect(events.map(({ type, context: { accessor } }) => [type, accessor.id])).toEqual([
      ['UserCreated', ada?.id],
      ['IdentityLinked', ada?.id],
      ['SessionStarted', ada?.id],
    ]);
    expect(events[1]?.data).toMatchObject({ provider: acme, issuer: provider.issuer, subject: 'p-ada' });
    const session = { method: 'oidc', assurance: 'oidc', provider: acme, providerSession: expect.any(String) };
    expect(events[2]?.data).toMatchObject(session);
    await configure({ 'allowed-domains': [] });

    provider.putPerson('p-ada', { preferred_username: 'renamed', email: 'new@example.com', email_verified: true });
    expect((await open().signIn(acme, provider, 'p-ada')).status).toBe(303);
    expect(await findUser('ada')).toEqual(ada);
    expect(await findUser('renamed')).toBeUndefined();
  });

  it('gets another user name if the first one is taken in any case, and no address without allowed domains', async () => {
    await ensureUser(server.store, server.runtime.ids, 'bob', false);
    provider.putPerson('p-bob', { preferred_username: 'Bob', email: 'bob@example.com', email_verified: true });
    expect((await open().signIn(acme, provider, 'p-bob')).status).toBe(303);
    const created = (await readWholeLog(server.store)).findLast(({ type }) => type === 'UserCreated');
    expect(created?.data).toMatchObject({ username: expect.stringMatching(/^Bob_/), email: null, siteAdmin: false });
  });

  it('happens once if two browsers finish at the same time', async () => {
    provider.putPerson('p-twice', { preferred_username: 'twice' });
    const visitors = [open(), open()];
    const paths: string[] = [];
    for (const visitor of visitors)
      paths.push(await visitor.authenticate(provider, await visitor.start(acme), 'p-twice'));
    const responses = await Promise.all(visitors.map(({ client }, n) => client.get(paths[n] ?? '')));
    expect(responses.map(({ status }) => status)).toEqual([303, 303]);
    const linked = (await readWholeLog(server.store)).filter(({ type }) => type === 'IdentityLinked');
    expect(linked.filter(({ data }) => (data as { subject: string }).subject === 'p-twice')).toHaveLength(1);
  });

  it('is refused without creating anything if the provider creates no users', async () => {
    provider.putPerson('p-nobody', { preferred_username: 'nobody' });
    await configure({ 'creates-users': false });
    const before = await countEvents();
    const visitor = open();
    const response = await visitor.signIn(acme, provider, 'p-nobody');
    await expectRefusal(visitor, response, before, 403);
    expect(await response.text()).toContain('No account here is linked with your account at Acme.');
    const refusal = (await listRefusals()).at(-1)?.data;
    expect(refusal).toEqual({ reason: 'identity', user: null, provider: acme, nameFingerprint: null, omitted: 0 });
    await configure({ 'creates-users': true });
  });

  it('never takes over an account with the same address', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'carol', false);
    await setEmail(server.store, server.runtime.ids, id, 'carol@example.com');
    provider.putPerson('p-carol', { preferred_username: 'c', email: 'Carol@Example.com', email_verified: true });
    await configure({ 'allowed-domains': ['example.com'] });
    const before = await countEvents();
    const visitor = open();
    const response = await visitor.signIn(acme, provider, 'p-carol');
    await expectRefusal(visitor, response, before, 403);
    expect(await response.text()).toContain('An account here has your e-mail address');
    await configure({ 'allowed-domains': [] });
  });

  it('respects the largest number of users', async () => {
    const small = await startTestServer({ clock, env: { CADASTRE_MAX_USERS: '1' } });
    try {
      const id = await addIdentityProvider(small, provider, { 'creates-users': true });
      const response = await new OidcVisitor(small).signIn(id, provider, 'p-ada');
      expect([response.status, await response.text()]).toEqual([422, expect.stringContaining('at most 1 users')]);
    } finally {
      await small.close();
      putTestClient(server, provider, acme);
    }
  });
});

describe('the rules of a provider', () => {
  it.each([
    [
      'an address that is not verified',
      { email: 'r@example.com' },
      { 'allowed-domains': ['example.com'] },
      'does not confirm',
    ],
    [
      'an address in another domain',
      { email: 'r@example.org', email_verified: true },
      { 'allowed-domains': ['example.com'] },
      'not in a domain that may sign in here',
    ],
    ['none of the groups', { groups: ['guests'] }, { 'allowed-groups': ['staff'] }, 'in none of the groups of Acme'],
  ])('refuse a new person with %s', async (_, claims, rules, message) => {
    provider.putPerson('p-rules', claims);
    await configure(rules);
    const before = await countEvents();
    const visitor = open();
    const response = await visitor.signIn(acme, provider, 'p-rules');
    await expectRefusal(visitor, response, before, 403);
    expect(await response.text()).toContain(message);
    await configure({ 'allowed-domains': [], 'allowed-groups': [] });
  });

  it('apply to each sign-in, and the log records a refusal', async () => {
    await configure({ 'allowed-domains': ['example.com'], 'allowed-groups': ['staff'] });
    provider.putPerson('p-dora', {
      preferred_username: 'dora',
      email: 'd@example.com',
      email_verified: true,
      groups: ['staff'],
    });
    expect((await open().signIn(acme, provider, 'p-dora')).status).toBe(303);
    provider.putPerson('p-dora', { email: 'd@example.com', email_verified: true, groups: [] });
    const response = await open().signIn(acme, provider, 'p-dora');
    expect([response.status, await titleOf(response)]).toEqual([403, 'You cannot sign in with Acme']);
    expect((await readWholeLog(server.store)).at(-1)).toMatchObject({ type: 'SignInFailed', data: { method: 'oidc' } });
    await configure({ 'allowed-domains': [], 'allowed-groups': [] });
  });

  it('let no suspended user in', async () => {
    provider.putPerson('p-emil', { preferred_username: 'emil' });
    await open().signIn(acme, provider, 'p-emil');
    const { id = '' } = (await findUser('emil')) ?? {};
    expectStatus(await server.post(`/api/v2/admin/users/${id}/actions/suspend`), 200);
    const visitor = open();
    const response = await visitor.signIn(acme, provider, 'p-emil');
    expect([response.status, await response.text()]).toEqual([
      403,
      expect.stringContaining('Your account is suspended'),
    ]);
    expect(visitor.client.getCookie(SESSION_COOKIE)).toBeUndefined();
  });
});

describe('a provider that is away', () => {
  it('shows a page with the other ways to sign in, and does not keep others out', async () => {
    clock.pass({ minutes: 11 });
    provider.setAway(true);
    const visitor = open();
    const response = await visitor.client.get(`/sign-in/oidc/${acme}?return_to=/account`);
    const text = await response.clone().text();
    expect([response.status, await titleOf(response)]).toEqual([503, 'Acme cannot be reached at the moment']);
    expect(text).toContain('href="/sign-in?return_to=%2Faccount"');
    const requests = provider.requests.length;
    expect((await visitor.client.get(`/sign-in/oidc/${acme}`)).status).toBe(503);
    expect(provider.requests).toHaveLength(requests);
    expect(await (await visitor.client.get('/sign-in')).text()).toContain('Continue with Acme');
    other.putPerson('p-frida', { preferred_username: 'frida' });
    expect((await visitor.signIn(rival, other, 'p-frida')).status).toBe(303);
    provider.setAway(false);
    clock.pass({ seconds: 5 });
    expect((await open().signIn(acme, provider, 'p-ada')).status).toBe(303);
  });

  it('shows the page also if it goes away in the middle', async () => {
    const visitor = open();
    const path = await visitor.authenticate(provider, await visitor.start(acme), 'p-ada');
    provider.setAway(true);
    const before = await countEvents();
    await expectRefusal(visitor, await visitor.client.get(path), before, 503);
  });
});

describe('the sign-in page', () => {
  it('lists the enabled providers without a request to them', async () => {
    const requests = provider.requests.length;
    const text = await (await open().client.get('/sign-in?return_to=/account')).text();
    expect(text).toContain(`href="/sign-in/oidc/${acme}?return_to=%2Faccount"`);
    expect(text).toContain('Continue with Rival');
    expect(provider.requests).toHaveLength(requests);
  });

  it.each([
    ['https://attacker.example/', '/app'],
    ['//attacker.example', '/app'],
    ['/oauth/authorize?state=1', '/oauth/authorize?state=1'],
    [`/${'x'.repeat(900)}`, '/app'],
  ])('leads to a page of this server only: %s', async (returnTo, location) => {
    const response = await open().signIn(acme, provider, 'p-ada', `?return_to=${encodeURIComponent(returnTo)}`);
    expect(outcomeOf(response)).toEqual([303, location]);
  });
});

describe('the start of a sign-in', () => {
  it('sends a code challenge, a nonce and a state, and keeps them in a cookie that only this host gets', async () => {
    const visitor = open();
    const response = await visitor.client.get(`/sign-in/oidc/${acme}`);
    const { searchParams } = new URL(response.headers.get('location') ?? '');
    expect(Object.fromEntries(searchParams)).toMatchObject({
      client_id: 'cadastre',
      response_type: 'code',
      scope: 'openid profile email groups',
      code_challenge_method: 'S256',
      redirect_uri: `${server.runtime.settings.publicUrl}/sign-in/oidc/${acme}/callback`,
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(searchParams.get(name)).toMatch(/^[\w-]{43}$/);
    expect(response.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-cadastre-oidc=[\w.-]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/),
    ]);
  });
});

describe('an organization that demands single sign-on', () => {
  it('opens for a session of a provider', async () => {
    await makeOrganization(server, 'guarded');
    const { id = '' } = (await findUser('ada')) ?? {};
    await makeOwner(server.store, server.runtime.ids, { id, username: 'ada' }, 'guarded');
    const policy = resource('organizations', { 'collaborator-auth-policy': 'sso_mandatory' });
    expectStatus(await server.patch('/api/v2/organizations/guarded', policy), 200);
    const visitor = open();
    await visitor.signIn(acme, provider, 'p-ada');
    const session = visitor.client.getCookie(SESSION_COOKIE) ?? '';
    const api = server.as({ session, origin: server.runtime.settings.publicUrl });
    expectStatus(await api.get('/api/v2/organizations/guarded'), 200);
  });
});
