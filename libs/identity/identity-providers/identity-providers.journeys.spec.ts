import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from '#platform/kernel';
import { ensureUser } from '#identity/people';
import { createSignInLink } from '#identity/sign-in';
import { openBrowser, type TestBrowser, type TestPage } from '../../../test/support/browser.js';
import { startIdentityProvider, type TestIdentityProvider } from '../../../test/support/identity-provider.js';
import { addIdentityProvider } from '../../../test/support/identity-providers.js';
import { makeOrganization, makeTeam } from '../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

// People sign in with a real browser, at a real server, with the login page of a real provider.

let server: TestServer;
let browser: TestBrowser;
let provider: TestIdentityProvider;

beforeAll(async () => {
  [server, browser, provider] = await Promise.all([
    startTestServer({ forBrowsers: true }),
    openBrowser(),
    startIdentityProvider(),
  ]);
  await addIdentityProvider(server, provider, { name: 'Acme ID', 'creates-users': true });
  await makeOrganization(server, 'company');
  await makeTeam(server, 'company', 'developers', { 'sso-team-id': 'developers' });
});

afterAll(async () => {
  await browser.close();
  await provider.close();
  await server.close();
});

const openPage = (javaScript = true): Promise<TestPage> => browser.openPage({ javaScript });

const press = (page: TestPage, name: string) => page.getByRole('button', { name, exact: true }).click();
const follow = (page: TestPage, name: string) => page.getByRole('link', { name, exact: true }).click();
const titleOf = (page: TestPage) => page.getByRole('heading', { level: 1 }).textContent();

/** Types the name on the login page of the provider. */
const logInAtProvider = async (page: TestPage, subject: string): Promise<void> => {
  await page.getByLabel('Login').fill(subject);
  await page.getByLabel('Password').fill('any');
  await press(page, 'Log in');
};

const signIn = async (page: TestPage, subject: string): Promise<void> => {
  await page.goto(`${server.url}/sign-in`);
  await follow(page, 'Continue with Acme ID');
  await logInAtProvider(page, subject);
};

const listTeams = async (username: string): Promise<readonly string[]> =>
  (
    await server.database.rows<{ name: string }>(sql`
      select t.name from team_members m join teams t on t.id = m.team join users u on u.id = m.user_id
       where u.username = ${username}`)
  ).map(({ name }) => name);

describe('without JavaScript, a person', () => {
  it('gets an account and a team at the first sign-in, and leaves the team at the next one', async () => {
    provider.putPerson('j-ada', { preferred_username: 'ada', groups: ['developers'] });
    const page = await openPage(false);
    await page.goto(`${server.url}/account`);
    await follow(page, 'Continue with Acme ID');
    await logInAtProvider(page, 'j-ada');
    expect([await titleOf(page), page.url()]).toEqual(['Your account', `${server.url}/account`]);
    expect(await page.getByRole('cell', { name: 'Identity provider', exact: true }).count()).toBe(1);
    expect(await page.getByRole('cell', { name: 'Acme ID' }).count()).toBe(1);
    expect(await listTeams('ada')).toEqual(['developers']);

    provider.putPerson('j-ada', { preferred_username: 'ada', groups: [] });
    await press(page, 'Sign out');
    expect(await page.getByRole('status').textContent()).toContain('You are signed out here.');
    // The provider still knows the person, and does not ask again.
    await follow(page, 'Continue with Acme ID');
    await follow(page, 'Your account');
    expect(await titleOf(page)).toBe('Your account');
    expect(await listTeams('ada')).toEqual([]);
    await page.context().close();
  });

  it('signs out at the provider too', async () => {
    provider.putPerson('j-bob', { preferred_username: 'bob' });
    const page = await openPage(false);
    await signIn(page, 'j-bob');
    await follow(page, 'Your account');
    await press(page, 'Sign out');
    await follow(page, 'Sign out at Acme ID too');
    await page.getByRole('button', { name: /sign me out/ }).click();
    await page.goto(`${server.url}/sign-in`);
    await follow(page, 'Continue with Acme ID');
    expect(await page.getByLabel('Login').count()).toBe(1);
    await page.context().close();
  });

  it('cancels, and comes back to the other ways to sign in', async () => {
    const page = await openPage(false);
    await page.goto(`${server.url}/sign-in?return_to=/account`);
    await follow(page, 'Continue with Acme ID');
    await follow(page, 'Cancel');
    expect(await titleOf(page)).toBe('Acme ID did not sign you in');
    expect(await page.getByText('access_denied').count()).toBe(1);
    await follow(page, 'Use another sign-in method');
    expect(page.url()).toBe(`${server.url}/sign-in?return_to=%2Faccount`);
    await page.context().close();
  });
});

describe('on the account page, a person', () => {
  it('links the account, signs in with it, and unlinks it', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'carol', false);
    provider.putPerson('j-carol', { preferred_username: 'somebody' });
    const page = await openPage();
    const { url } = await createSignInLink(server.runtime, { user: id, resetsMethods: false, publicUrl: server.url });
    await page.goto(`${url}&return_to=/account`);
    await press(page, 'Sign in');
    await follow(page, 'Link Acme ID');
    await logInAtProvider(page, 'j-carol');
    expect(await page.getByRole('status').first().textContent()).toContain('The identity provider is linked.');
    expect(await page.getByRole('link', { name: 'Link Acme ID' }).count()).toBe(0);

    await press(page, 'Sign out');
    await follow(page, 'Continue with Acme ID');
    await page.waitForURL(`${server.url}/app`);
    await page.goto(`${server.url}/account`);
    expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual(['Console', 'carol']);
    await press(page, 'Unlink');
    expect(await titleOf(page)).toBe('Confirm that it is you');
    // The person has logged in at the provider a moment ago, so it does not ask again.
    await follow(page, 'Continue with Acme ID');
    await press(page, 'Unlink');
    expect(await page.getByRole('alert').first().textContent()).toContain(
      'before you unlink the last identity provider',
    );
    await page.getByRole('textbox', { name: 'Password' }).fill('four random words');
    await press(page, 'Set a password');
    await press(page, 'Unlink');
    expect(await page.getByRole('status').first().textContent()).toContain('The identity provider is unlinked.');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the pages', () => {
  it('fit the width of a phone', async () => {
    provider.putPerson('j-dora', { preferred_username: 'dora-with-a-rather-long-name' });
    const page = await openPage();
    await page.setViewportSize({ width: 360, height: 740 });
    await signIn(page, 'j-dora');
    for (const path of ['/account', '/sign-in?confirm=1', '/sign-in/oidc/none/callback']) {
      await page.goto(`${server.url}${path}`);
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 360]);
    }
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
