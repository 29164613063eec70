import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SESSION_COOKIE } from '#api/access';
import { sql } from '#platform/kernel';
import { makeOwner } from '#identity/people';
import { computeTotpCode } from '../../sign-in/totp/totp.codes.js';
import { AdjustableClock } from '../../../../test/support/clocks.js';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { startIdentityProvider, type TestIdentityProvider } from '../../../../test/support/identity-provider.js';
import { addIdentityProvider } from '../../../../test/support/identity-providers.js';
import { OidcVisitor } from '../../../../test/support/oidc-visitor.js';
import { expectStatus, makeOrganization, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { enableTotp } from '../../../../test/support/sign-in.js';

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

const configure = async (attributes: object): Promise<void> => {
  const path = `/api/v2/admin/identity-providers/${acme}`;
  expectStatus(await server.patch(path, resource('identity-providers', attributes)), 200);
};

const outcomeOf = (response: Response) => [response.status, response.headers.get('location')];

const signIn = async (subject: string, query = ''): Promise<{ visitor: OidcVisitor; outcome: unknown[] }> => {
  provider.putPerson(subject, { preferred_username: subject });
  const visitor = new OidcVisitor(server);
  return { visitor, outcome: outcomeOf(await visitor.signIn(acme, provider, subject, query)) };
};

const findUserId = async (username: string): Promise<string> =>
  (await server.database.row<{ id: string }>(sql`select id from users where username = ${username}`))?.id ?? '';

const readLastAssurance = async (): Promise<unknown> =>
  (await readWholeLog(server.store)).findLast(({ type }) => type === 'SessionStarted')?.data;

/** Creates a person who signs in with the provider and uses one-time codes here. */
const makePersonWithCodes = async (subject: string): Promise<{ id: string; createCode: () => string }> => {
  await signIn(subject);
  const id = await findUserId(subject);
  const { secret } = await enableTotp(server, id);
  clock.pass({ seconds: 60 });
  return { id, createCode: () => computeTotpCode(secret, clock.now()) };
};

describe('a person with one-time codes who signs in with a provider', () => {
  it('types a code, if the provider does not prove a second factor', async () => {
    const { createCode } = await makePersonWithCodes('ada');
    const { visitor, outcome } = await signIn('ada', '?return_to=/account/totp');
    expect(outcome).toEqual([303, '/sign-in/second-factor?return_to=%2Faccount%2Ftotp']);
    expect(visitor.client.getCookie(SESSION_COOKIE)).toBeUndefined();
    expect((await visitor.client.post('/sign-in/second-factor', { code: '000000' })).status).toBe(422);
    const done = await visitor.client.post('/sign-in/second-factor', { code: createCode(), return_to: '/account' });
    expect(outcomeOf(done)).toEqual([303, '/account']);
    expect(await readLastAssurance()).toMatchObject({
      method: 'oidc',
      assurance: 'oidc-two-factor',
      provider: acme,
      providerSession: expect.any(String),
    });
  });

  it('types none, if the provider proves a second factor', async () => {
    await makePersonWithCodes('bob');
    await configure({ 'proves-two-factor': true });
    expect((await signIn('bob')).outcome).toEqual([303, '/app']);
    expect(await readLastAssurance()).toMatchObject({ method: 'oidc', assurance: 'oidc-two-factor' });
    await configure({ 'proves-two-factor': false });
  });

  it('starts again, if the provider is disabled before the code', async () => {
    const { createCode } = await makePersonWithCodes('carol');
    const { visitor } = await signIn('carol');
    await configure({ enabled: false });
    const response = await visitor.client.post('/sign-in/second-factor', { code: createCode() });
    expect(outcomeOf(response)).toEqual([303, '/sign-in']);
    await configure({ enabled: true });
  });
});

describe('an organization that demands a second factor', () => {
  it('is closed to a sign-in with a provider alone, and open after a code of the person', async () => {
    const { id, createCode } = await makePersonWithCodes('dora');
    await makeOrganization(server, 'strict');
    await makeOwner(server.store, server.runtime.ids, { id, username: 'dora' }, 'strict');
    const policy = resource('organizations', { 'collaborator-auth-policy': 'two_factor_mandatory' });
    expectStatus(await server.patch('/api/v2/organizations/strict', policy), 200);
    const read = async ({ client }: OidcVisitor) => {
      const session = client.getCookie(SESSION_COOKIE) ?? '';
      return (
        await server.as({ session, origin: server.runtime.settings.publicUrl }).get('/api/v2/organizations/strict')
      ).status;
    };
    const { visitor } = await signIn('dora');
    await visitor.client.post('/sign-in/second-factor', { code: createCode() });
    expect(await read(visitor)).toBe(200);

    const { visitor: weak } = await signIn('emil');
    const emil = { id: await findUserId('emil'), username: 'emil' };
    await makeOwner(server.store, server.runtime.ids, emil, 'strict');
    expect(await read(weak)).toBe(401);
  });
});

describe('a person who confirms who they are with a provider', () => {
  it('must have authenticated there in the last five minutes', async () => {
    const { visitor } = await signIn('frida');
    const confirm = '/sign-in?confirm=1&return_to=/account';
    // The provider has not stated when the person authenticated.
    const refused = await visitor.client.post('/account/password', { password: 'four random words' });
    expect(outcomeOf(refused)).toEqual([303, confirm]);
    const page = await (await visitor.client.get(confirm)).text();
    expect(page).toContain(`href="/sign-in/oidc/${acme}?return_to=%2Faccount&amp;confirm=1"`);

    const path = '?return_to=/account&confirm=1';
    const address = await visitor.start(acme, path);
    expect(new URL(address).searchParams.get('max_age')).toBe('300');
    const callback = await visitor.authenticate(provider, address, 'frida');
    expect(outcomeOf(await visitor.client.get(callback))).toEqual([303, '/account']);
    const changed = await visitor.client.post('/account/password', { password: 'four random words' });
    expect(outcomeOf(changed)).toEqual([303, '/account?done=password']);
  });

  const NO_TIME = 'Acme does not state when you signed in there. Use a password, a passkey or a sign-in link.';

  it.each<[string, (claims: { auth_time?: unknown }) => object, string]>([
    ['no time', (claims) => ({ ...claims, auth_time: undefined }), NO_TIME],
    ['no number', (claims) => ({ ...claims, auth_time: 'now' }), 'is not valid'],
    ['a negative time', (claims) => ({ ...claims, auth_time: -1 }), 'is not valid'],
    [
      'an old time',
      (claims) => ({ ...claims, auth_time: Math.floor(clock.now().getTime() / 1_000) - 361 }),
      'is not valid',
    ],
  ])('is refused if the provider states %s', async (_, forge, message) => {
    const { visitor } = await signIn('gina');
    provider.forgeIdTokens({ claims: forge as never });
    const response = await visitor.signIn(acme, provider, 'gina', '?return_to=/account&confirm=1');
    provider.forgeIdTokens(null);
    const page = await response.text();
    expect([response.status, page]).toEqual([400, expect.stringContaining(message)]);
    expect(page).toContain('href="/sign-in?confirm=1&amp;return_to=%2Faccount"');
  });
});

// Last, because the clock of the provider does not move.
describe('a sign-in with a provider and a code', () => {
  it('leaves no count of the address', async () => {
    const { createCode } = await makePersonWithCodes('hugo');
    const addresses = sql`select failures from sign_in.attempts where key like 'address:%'`;
    const before = await server.database.rows<{ failures: number }>(addresses);
    for (let number = 0; number < 3; number += 1) {
      clock.pass({ seconds: 30 });
      const { visitor } = await signIn('hugo');
      const done = await visitor.client.post('/sign-in/second-factor', { code: createCode() });
      expect(outcomeOf(done)).toEqual([303, '/app']);
    }
    expect(await server.database.rows<{ failures: number }>(addresses)).toEqual(before);
  });
});
