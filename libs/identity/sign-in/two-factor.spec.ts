import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser, issueUserToken } from '#identity/people';
import { AdjustableClock } from '../../../test/support/clocks.js';
import { addAuthenticator, openBrowser, type TestBrowser, type TestPage } from '../../../test/support/browser.js';
import { openConsole } from '../../../test/support/console.js';
import { expectStatus, resource } from '../../../test/support/seeds.js';
import { startAnotherGateway, startTestServer, type TestServer } from '../../../test/support/server.js';
import { signInTestUser, startTestSession } from '../../../test/support/sessions.js';
import { enableTotp, FormClient, makeLink, makePerson, PASSWORD } from '../../../test/support/sign-in.js';
import { computeTotpCode } from './totp/totp.codes.js';

// A site that requires a second factor of everybody.

const clock = new AdjustableClock();
let server: TestServer;
let browser: TestBrowser;

beforeAll(async () => {
  [server, browser] = await Promise.all([
    startTestServer({ clock, forBrowsers: true, env: { CADASTRE_REQUIRE_TWO_FACTOR: 'true' } }),
    openBrowser(),
  ]);
});
afterAll(async () => {
  await browser.close();
  await server.close();
});

const locate = ({ status, headers }: Response) => [status, headers.get('location')];
const openForm = () => new FormClient(server.url, server.runtime.settings.publicUrl);
const signIn = async (login: string): Promise<FormClient> => {
  const client = openForm();
  await client.post('/sign-in', { login, password: PASSWORD });
  return client;
};
const signInWithCode = async (login: string, secret: string): Promise<FormClient> => {
  const client = await signIn(login);
  // Each code works once.
  clock.offsetMs += 30_000;
  const code = computeTotpCode(secret, clock.now());
  expect(locate(await client.post('/sign-in/second-factor', { code, return_to: '/app' }))).toEqual([303, '/app']);
  return client;
};
const readDetails = (api: ReturnType<TestServer['as']>) => api.get('/api/v2/account/details');
const asBrowser = (client: FormClient) =>
  server.as({ session: client.getCookie('__Host-cadastre-session') ?? '', origin: server.runtime.settings.publicUrl });

describe('a person without a second factor', () => {
  it('reaches only the account, and the refusals name what to do', async () => {
    const ada = await makePerson(server, 'ada');
    const client = await signIn('ada');
    expect(await (await client.get('/account')).text()).toContain('This site requires a second factor. Add a passkey');
    expect(await (await client.get('/account')).text()).not.toContain('See your tokens');
    expect(locate(await client.get('/oauth/authorize'))).toEqual([303, '/account']);
    const refused = expectStatus(await readDetails(await signInTestUser(server, ada)), 403);
    expect(refused.body.errors).toEqual([
      {
        status: '403',
        title: 'forbidden',
        detail: 'This site requires a second factor. Open /account in a browser to set one up, and sign in with it.',
        meta: { required: 'second-factor' },
      },
    ]);
    expect((await client.post('/sign-out')).status).toBe(303);
  });

  it('sets up one-time codes, and works after a sign-in with one', async () => {
    const user = await makePerson(server, 'bob');
    const { secret } = await enableTotp(server, user);
    const client = await signInWithCode('bob', secret);
    expect((await readDetails(asBrowser(client))).status).toBe(200);
  });

  it('works after a sign-in at a provider that proves two factors, and not at another one', async () => {
    const user = await makePerson(server, 'carol');
    const proved = await signInTestUser(server, user, { method: 'oidc', assurance: 'oidc-two-factor' });
    expect((await readDetails(proved)).status).toBe(200);
    const other = await signInTestUser(server, user, { method: 'oidc', assurance: 'oidc' });
    expect((await readDetails(other)).status).toBe(403);
  });
});

describe('a password of a person with a second factor', () => {
  it('neither replaces nor removes the factor', async () => {
    const user = await makePerson(server, 'dave');
    await enableTotp(server, user);
    // A session from before, which has not proved the factor.
    const before = openForm();
    const { secret } = await startTestSession(server, user);
    before.setCookie('__Host-cadastre-session', secret);
    const confirm = '/sign-in?confirm=1&return_to=/account';
    expect(await (await before.get('/account')).text()).toContain('Sign in with your second factor');
    for (const path of ['/account/totp/removal', '/account/recovery-codes', '/account/password/removal']) {
      expect([path, ...locate(await before.post(path))]).toEqual([path, 303, confirm]);
    }
    expect(locate(await before.post('/account/password', { password: 'four other words' }))).toEqual([303, confirm]);
    expect(locate(await before.get('/account/totp'))).toEqual([303, confirm]);
  });
});

describe('a token', () => {
  it('works if an operator created it, or a session with a second factor', async () => {
    const user = await makePerson(server, 'erin');
    const operators = await issueUserToken(server.store, server.runtime.ids, user, 'by an operator');
    expect((await readDetails(server.as(operators))).status).toBe(200);
    const strong = await signInTestUser(server, user, { assurance: 'two-factor' });
    const path = `/api/v2/users/${user}/authentication-tokens`;
    const created = expectStatus(await strong.post(path, resource('authentication-tokens', {})), 201);
    expect((await readDetails(server.as(created.body.data.attributes.token))).status).toBe(200);
    // The administrator's token is in the settings, so no administrator is locked out.
    expect((await readDetails(server)).status).toBe(200);
  });

  it('gets 403 if a session without a second factor created it, before the site required one', async () => {
    const user = await makePerson(server, 'heidi');
    const before = await startAnotherGateway(server, { requiresTwoFactor: false });
    const { secret } = await startTestSession(server, user);
    const weak = before.as({ session: secret, origin: server.runtime.settings.publicUrl });
    const path = `/api/v2/users/${user}/authentication-tokens`;
    const body = resource('authentication-tokens', {});
    const { token } = expectStatus(await weak.post(path, body), 201).body.data.attributes;
    expect((await readDetails(before.as(token))).status).toBe(200);
    await before.close();
    const refusals = [await readDetails(server.as(token)), await server.as(token).post(path, body)];
    const error = {
      status: '403',
      title: 'forbidden',
      detail:
        'This site requires a second factor, and this token was created without one. Sign in with a second factor, and ' +
        'create a new token at /app/~account/tokens.',
      meta: { required: 'second-factor' },
    };
    expect(refusals.map((refusal) => [refusal.status, refusal.body.errors])).toEqual([
      [403, [error]],
      [403, [error]],
    ]);
    const list = expectStatus(await server.get(path), 200).body.data;
    expect(list).toHaveLength(1);
  });
});

describe('an administrator who lost the second factor', () => {
  it('comes back with a sign-in link that resets the methods', async () => {
    const user = await makePerson(server, 'frank');
    await enableTotp(server, user);
    const client = openForm();
    await client.post('/sign-in/link', { secret: await makeLink(server, user, true) });
    expect(await (await client.get('/account')).text()).toContain('This site requires a second factor. Add a passkey');
    expect((await client.get('/account/totp')).status).toBe(200);
  });
});

describe('in a browser, a person', () => {
  const press = (page: TestPage, name: string) => page.getByRole('button', { name, exact: true }).click();

  it('is led from the console to the account, adds a passkey, and signs in with it', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'grace', false);
    const page = await openConsole(browser, server, { user: id, path: '/app' });
    await addAuthenticator(page);
    await page.waitForURL('**/account');
    await page.getByText('This site requires a second factor. Add a passkey').waitFor();
    await page.getByLabel('Name of the new passkey').fill('laptop');
    await press(page, 'Add a passkey');
    await page.getByText('The passkey is added.').waitFor();
    await page.getByRole('link', { name: 'Sign in with your second factor' }).click();
    await press(page, 'Sign in with a passkey');
    await page.waitForURL((url) => url.pathname.startsWith('/app'));
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
