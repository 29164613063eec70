import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { makePerson, PASSWORD } from '../../../test/support/sign-in.js';
import { openBrowser, type TestBrowser, type TestPage } from '../../../test/support/browser.js';
import { startLoginProgram, type LoginProgram } from '../../../test/support/login-program.js';
import { sendOauthForm, toTokenForm } from '../../../test/support/oauth.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

// People approve logins with a real browser, which returns to a program on this computer.

let server: TestServer;
let browser: TestBrowser;
let program: LoginProgram;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  await makePerson(server, 'ada');
  await makePerson(server, 'grace-with-a-rather-long-name');
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

beforeEach(async () => {
  program = await startLoginProgram();
});

afterEach(() => program.close());

const press = (page: TestPage, name: string) => page.getByRole('button', { name, exact: true }).click();
const titleOf = (page: TestPage) => page.getByRole('heading', { level: 1 }).textContent();

const signIn = async (page: TestPage, name: string): Promise<void> => {
  await page.getByLabel('User name or e-mail address').fill(name);
  await page.getByLabel('Password').fill(PASSWORD);
  await press(page, 'Sign in');
};

const exchange = async (code: string): Promise<string> => {
  const form = { ...toTokenForm(code), redirect_uri: program.redirectUri };
  return (await sendOauthForm(server.url, '/oauth/token', form)).body.access_token as string;
};

describe.each([
  ['without JavaScript', false],
  ['with JavaScript', true],
])('%s, a person', (_, javaScript) => {
  it('signs in, approves the login, and finds the token in the account', async () => {
    const page = await browser.openPage({ javaScript });
    await page.goto(`${server.url}${program.consentPath}`);
    expect(await titleOf(page)).toBe('Sign in');
    await signIn(page, 'ada');
    expect(await titleOf(page)).toBe(`Log in to ${new URL(server.url).host}?`);
    await press(page, 'Approve');
    await page.getByText('The program has the answer.').waitFor();
    const api = server.as(await exchange((await program.returned)['code'] ?? ''));
    expect((await api.get('/api/v2/account/details')).body.data.attributes.username).toBe('ada');

    await page.goto(`${server.url}/account`);
    expect(await page.getByRole('link', { name: 'See your tokens' }).getAttribute('href')).toBe('/app/~account/tokens');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('denies a login', async () => {
    const page = await browser.openPage({ javaScript });
    await page.goto(`${server.url}${program.consentPath}`);
    await signIn(page, 'ada');
    await press(page, 'Deny');
    await page.getByText('The program has the answer.').waitFor();
    expect(await program.returned).toMatchObject({ error: 'access_denied' });
    await page.context().close();
  });

  it('approves as another person', async () => {
    const page = await browser.openPage({ javaScript });
    await page.goto(`${server.url}${program.consentPath}`);
    await signIn(page, 'ada');
    await page.getByRole('link', { name: 'use another account' }).click();
    await signIn(page, 'grace-with-a-rather-long-name');
    expect(await page.getByRole('definition').filter({ hasText: 'grace-with' }).count()).toBe(1);
    await press(page, 'Approve');
    await page.getByText('The program has the answer.').waitFor();
    const api = server.as(await exchange((await program.returned)['code'] ?? ''));
    expect((await api.get('/api/v2/account/details')).body.data.attributes.username).toMatch(/^grace/);
    await page.context().close();
  });
});

describe('the pages', () => {
  it('fit the width of a phone', async () => {
    const page = await browser.openPage();
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(`${server.url}${program.consentPath}`);
    await signIn(page, 'grace-with-a-rather-long-name');
    const widthOf = () => page.evaluate('document.documentElement.scrollWidth');
    for (const path of [program.consentPath, '/account']) {
      await page.goto(`${server.url}${path}`);
      expect([path, await widthOf()]).toEqual([path, 360]);
    }
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
