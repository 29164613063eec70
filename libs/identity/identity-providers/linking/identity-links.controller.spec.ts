import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SESSION_COOKIE } from '#api/access';
import { sql } from '#platform/kernel';
import { ensureUser } from '#identity/people';
import { signInDefinition } from '#identity/sign-in';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { startIdentityProvider, type TestIdentityProvider } from '../../../../test/support/identity-provider.js';
import { addIdentityProvider } from '../../../../test/support/identity-providers.js';
import { OidcVisitor } from '../../../../test/support/oidc-visitor.js';
import { expectStatus, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { FormClient, makeLink, PASSWORD, signInByLink } from '../../../../test/support/sign-in.js';
import { expectViewsMatchLog } from '../../../../test/support/views-match-log.js';
import { identityProvidersDefinition } from '../identity-providers.module.js';

const clock = new AdjustableClock();
let server: TestServer;
let provider: TestIdentityProvider;
let acme: string;

beforeAll(async () => {
  [server, provider] = await Promise.all([startTestServer({ clock }), startIdentityProvider()]);
  acme = await addIdentityProvider(server, provider, { 'creates-users': true });
});

afterAll(async () => {
  await provider.close();
  await server.close();
});

const makeUser = async (name: string): Promise<string> =>
  (await ensureUser(server.store, server.runtime.ids, name, false)).id;

/** Returns the browser of a user who has signed in with a link. */
const openFor = async (user: string): Promise<OidcVisitor> => new OidcVisitor(server, await signInByLink(server, user));

const findLinkPath = async ({ client }: OidcVisitor): Promise<string> => {
  const page = await (await client.get('/account')).text();
  return new RegExp(`href="(/account/identity-providers/${acme}/link[^"]+)"`).exec(page)?.[1] ?? '';
};

const findUnlinkPath = async ({ client }: OidcVisitor): Promise<string> =>
  /action="(\/account\/identities\/[^"]+)"/.exec(await (await client.get('/account')).text())?.[1] ?? '';

/** Follows the link of the account page to the provider and back. Returns the response to the callback. */
const link = async (visitor: OidcVisitor, subject: string): Promise<Response> => {
  provider.putPerson(subject, {});
  const { headers } = await visitor.client.get(await findLinkPath(visitor));
  return visitor.client.get(await visitor.authenticate(provider, headers.get('location') ?? '', subject));
};

const outcomeOf = (response: Response) => [response.status, response.headers.get('location')];
const listIdentities = (user: string) =>
  server.database.rows<{ subject: string }>(sql`select subject from user_identities where user_id = ${user}`);
const countEvents = async () => (await readWholeLog(server.store)).length;
const isSignedIn = async (client: FormClient) => (await client.get('/account')).status === 200;

describe('a link of an account', () => {
  it('is made by a signed-in person, ends the other sessions, and then signs the person in', async () => {
    const user = await makeUser('ada');
    const [visitor, elsewhere] = [await openFor(user), await signInByLink(server, user)];
    expect(outcomeOf(await link(visitor, 'l-ada'))).toEqual([303, '/account?done=identity-linked']);
    expect([await isSignedIn(visitor.client), await isSignedIn(elsewhere)]).toEqual([true, false]);
    const page = await (await visitor.client.get('/account?done=identity-linked')).text();
    expect(page).toContain('The identity provider is linked.');
    expect(page).not.toContain('Link Acme');
    const stranger = new OidcVisitor(server);
    expect((await stranger.signIn(acme, provider, 'l-ada')).status).toBe(303);
    expect(await (await stranger.client.get('/account')).text()).toContain('>ada</a>');
  });

  it('is made once, also if the person comes back twice', async () => {
    const user = await makeUser('bob');
    const visitor = await openFor(user);
    const path = await findLinkPath(visitor);
    await link(visitor, 'l-bob');
    provider.putPerson('l-bob', {});
    const { headers } = await visitor.client.get(path);
    const callback = await visitor.authenticate(provider, headers.get('location') ?? '', 'l-bob');
    const before = await countEvents();
    expect(outcomeOf(await visitor.client.get(callback))).toEqual([303, '/account?done=identity-linked']);
    expect(await countEvents()).toBe(before);
  });

  it('needs a sign-in of the last 15 minutes', async () => {
    const visitor = await openFor(await makeUser('carol'));
    const path = await findLinkPath(visitor);
    clock.pass({ minutes: 16 });
    expect(outcomeOf(await visitor.client.get(path))).toEqual([303, '/sign-in?confirm=1&return_to=/account']);
  });

  it('starts on the account page of the same session only', async () => {
    const [victim, attacker] = [await openFor(await makeUser('dora')), await openFor(await makeUser('eve'))];
    const path = await findLinkPath(attacker);
    for (const address of [path, path.replace(/\?.*/, ''), `${path}x`]) {
      expect(outcomeOf(await victim.client.get(address))).toEqual([303, '/account']);
    }
  });

  it('ends in the session that started it only', async () => {
    const [attacker, victim] = [await openFor(await makeUser('emil')), await openFor(await makeUser('frida'))];
    provider.putPerson('l-emil', {});
    const { headers } = await attacker.client.get(await findLinkPath(attacker));
    const callback = await attacker.authenticate(provider, headers.get('location') ?? '', 'l-emil');
    attacker.client.setCookie(SESSION_COOKIE, victim.client.getCookie(SESSION_COOKIE) ?? '');
    const before = await countEvents();
    expect((await attacker.client.get(callback)).status).toBe(400);
    expect(await countEvents()).toBe(before);
  });

  it('is refused if the account at the provider is linked with another account', async () => {
    await link(await openFor(await makeUser('gina')), 'l-gina');
    const user = await makeUser('hanna');
    const response = await link(await openFor(user), 'l-gina');
    expect([response.status, await response.text()]).toEqual([
      422,
      expect.stringContaining('linked with another account'),
    ]);
    expect(await listIdentities(user)).toEqual([]);
  });

  it('is made once if two people finish at the same time', async () => {
    const users = [await makeUser('ivan'), await makeUser('jane')];
    const paths: [OidcVisitor, string][] = [];
    provider.putPerson('l-shared', {});
    for (const user of users) {
      const visitor = await openFor(user);
      const { headers } = await visitor.client.get(await findLinkPath(visitor));
      paths.push([visitor, await visitor.authenticate(provider, headers.get('location') ?? '', 'l-shared')]);
    }
    const responses = await Promise.all(paths.map(([{ client }, path]) => client.get(path)));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([303, 422]);
  });

  it('is refused to a person who may not sign in with the provider', async () => {
    const path = `/api/v2/admin/identity-providers/${acme}`;
    expectStatus(await server.patch(path, resource('identity-providers', { 'allowed-groups': ['staff'] })), 200);
    const user = await makeUser('karl');
    const response = await link(await openFor(user), 'l-karl');
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining('in none of the groups')]);
    expect(await listIdentities(user)).toEqual([]);
    expectStatus(await server.patch(path, resource('identity-providers', { 'allowed-groups': [] })), 200);
  });

  it('is removed if another way to sign in remains', async () => {
    const user = await makeUser('lena');
    const visitor = await openFor(user);
    await link(visitor, 'l-lena');
    const path = await findUnlinkPath(visitor);
    const refused = await visitor.client.post(path);
    expect([refused.status, await refused.text()]).toEqual([
      422,
      expect.stringContaining('Set a password or add a passkey before you unlink the last identity provider'),
    ]);
    await visitor.client.post('/account/password', { password: PASSWORD });
    expect(outcomeOf(await visitor.client.post(path))).toEqual([303, '/account?done=identity-unlinked']);
    expect(await listIdentities(user)).toEqual([]);
    expect((await visitor.client.post(path)).status).toBe(404);
  });

  it('keeps a password that is the only other way in while the provider is not enabled', async () => {
    const path = `/api/v2/admin/identity-providers/${acme}`;
    const visitor = await openFor(await makeUser('mona'));
    await link(visitor, 'l-mona');
    await visitor.client.post('/account/password', { password: PASSWORD });
    expectStatus(await server.patch(path, resource('identity-providers', { enabled: false })), 200);
    expect((await visitor.client.post('/account/password/removal')).status).toBe(422);
    expect(await (await visitor.client.get('/account')).text()).toContain('(not in use here)');
    expectStatus(await server.patch(path, resource('identity-providers', { enabled: true })), 200);
    expect(outcomeOf(await visitor.client.post('/account/password/removal'))).toEqual([
      303,
      '/account?done=password-removed',
    ]);
  });

  it('is removed by a link of the operator that resets everything', async () => {
    const user = await makeUser('nora');
    await link(await openFor(user), 'l-nora');
    const client = new FormClient(server.url, server.runtime.settings.publicUrl);
    await client.post('/sign-in/link', { secret: await makeLink(server, user, true) });
    expect(await listIdentities(user)).toEqual([]);
  });
});

describe('a person who is forgotten', () => {
  it('leaves no subject and no groups, and comes back as somebody new', async () => {
    provider.putPerson('l-otto', { preferred_username: 'otto', groups: ['developers'] });
    const visitor = new OidcVisitor(server);
    await visitor.signIn(acme, provider, 'l-otto');
    const user =
      (await server.database.row<{ id: string }>(sql`select id from users where username = 'otto'`))?.id ?? '';
    const countGroups = () =>
      server.database.rows(sql`select 1 from identity_providers.stated_groups where user_id = ${user}`);
    expect(await countGroups()).toHaveLength(1);
    expectStatus(await server.delete(`/api/v2/admin/users/${user}`), 204);
    expect([await listIdentities(user), await countGroups()]).toEqual([[], []]);
    const events = (await readWholeLog(server.store)).filter(({ type }) => type === 'IdentityLinked');
    expect(JSON.stringify(events)).not.toContain('l-otto');
    expect(events.at(-1)?.data).toMatchObject({ user, subject: null });
    const stored = await server.database.rows<{ text: string }>(sql`select data::text as text from event_store.events`);
    expect(JSON.stringify(stored)).not.toContain('l-otto');
    expect((await new OidcVisitor(server).signIn(acme, provider, 'l-otto')).status).toBe(303);
    expect(await listIdentities(user)).toEqual([]);
  });

  it('leaves views that match the log', () =>
    expectViewsMatchLog(server, [signInDefinition, identityProvidersDefinition]));
});

describe('a sign-out', () => {
  it('leads to the page of the provider to sign out there too', async () => {
    provider.putPerson('l-paul', { preferred_username: 'paul' });
    const visitor = new OidcVisitor(server);
    await visitor.signIn(acme, provider, 'l-paul');
    const { headers } = await visitor.client.post('/sign-out');
    expect(headers.get('location')).toBe(`/sign-in?left=${acme}`);
    const page = await (await visitor.client.get(headers.get('location') ?? '')).text();
    expect(page).toContain(`<a href="/sign-in/oidc/${acme}/sign-out">Sign out at Acme too</a>`);
    const response = await visitor.client.get(`/sign-in/oidc/${acme}/sign-out`);
    expect(outcomeOf(response)).toEqual([303, `${provider.issuer}/session/end?client_id=cadastre`]);
  });

  it('shows a page if the provider cannot be reached', async () => {
    clock.pass({ minutes: 11 });
    provider.setAway(true);
    const response = await new OidcVisitor(server).client.get(`/sign-in/oidc/${acme}/sign-out`);
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('cannot be reached')]);
    provider.setAway(false);
  });

  it('of another session leads to the sign-in page', async () => {
    const client = await signInByLink(server, await makeUser('quinn'));
    expect((await client.post('/sign-out')).headers.get('location')).toBe('/sign-in');
    expect(await (await client.get('/sign-in?left=idp-unknown')).text()).not.toContain('Sign out at');
  });
});
