import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { addAuthenticator, openBrowser, type TestBrowser, type TestPage } from '../../../test/support/browser.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';
import { createSignInLink } from './links/sign-in-links.operator.js';
import { FormClient } from '../../../test/support/sign-in.js';
import { computeTotpCode } from './totp/totp.codes.js';

// People sign in with a real browser, at a real server.

const PASSWORD = 'four random words';
const STEP_MS = 30_000;
let server: TestServer;
let browser: TestBrowser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const makeUser = async (name: string): Promise<string> =>
  (await ensureUser(server.store, server.runtime.ids, name, false)).id;

const press = (page: TestPage, name: string) => page.getByRole('button', { name, exact: true }).click();
const titleOf = (page: TestPage) => page.getByRole('heading', { level: 1 }).textContent();

const signInWithLink = async (page: TestPage, user: string, resetsMethods = false): Promise<void> => {
  const { url } = await createSignInLink(server.runtime, { user, resetsMethods, publicUrl: server.url });
  await page.goto(`${url}&return_to=/account`);
  await press(page, 'Sign in');
};

const typePassword = async (page: TestPage, name: string, password = PASSWORD): Promise<void> => {
  await page.getByLabel('User name or e-mail address').fill(name);
  await page.getByLabel('Password').fill(password);
  await press(page, 'Sign in');
};

const typeCode = async (page: TestPage, code: string): Promise<void> => {
  await page.getByLabel('One-time code').fill(code);
  await press(page, 'Continue');
};

const setPassword = async (page: TestPage): Promise<void> => {
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await press(page, 'Set a password');
};

describe('without JavaScript, a person', () => {
  it('signs in with a link, sets a password, signs out and signs in with it', async () => {
    const page = await browser.openPage({ javaScript: false });
    await signInWithLink(page, await makeUser('ada'));
    expect(await titleOf(page)).toBe('Your account');
    await setPassword(page);
    expect(await page.getByRole('status').first().textContent()).toContain('Your password is set.');
    await press(page, 'Sign out');
    expect(await titleOf(page)).toBe('Sign in');
    await page.goto(`${server.url}/account`);
    expect(page.url()).toBe(`${server.url}/sign-in?return_to=%2Faccount`);
    await typePassword(page, 'ada', 'four other words');
    expect(await page.getByRole('alert').first().textContent()).toBe('The user name or the password is wrong.');
    await typePassword(page, 'ada');
    expect(await titleOf(page)).toBe('Your account');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('turns on one-time codes, and signs in with a code and with a recovery code', async () => {
    const page = await browser.openPage({ javaScript: false });
    await signInWithLink(page, await makeUser('bob'));
    await setPassword(page);
    await page.getByRole('link', { name: 'Set up one-time codes' }).click();
    const secret = (await page.locator('code').textContent())?.replaceAll(' ', '') ?? '';
    expect(await page.getByRole('img', { name: 'QR code' }).locator('svg').count()).toBe(1);
    await page.getByLabel('Code that the app shows now').fill('000000');
    await press(page, 'Turn on one-time codes');
    expect(await page.getByRole('alert').textContent()).toContain('This code is wrong.');
    const used = computeTotpCode(secret, new Date());
    await page.getByLabel('Code that the app shows now').fill(used);
    await press(page, 'Turn on one-time codes');
    expect(await titleOf(page)).toBe('Your recovery codes');
    const codes = await page.locator('.codes li').allTextContents();
    expect(codes).toHaveLength(10);
    await page.getByRole('link', { name: 'I have stored the codes' }).click();
    await press(page, 'Sign out');

    await typePassword(page, 'bob');
    expect(await titleOf(page)).toBe('One more step');
    await typeCode(page, used);
    expect(await page.getByRole('alert').textContent()).toContain('This code is wrong, was used already');
    await typeCode(page, computeTotpCode(secret, new Date(Date.now() + STEP_MS)));
    await page.getByRole('link', { name: 'Your account' }).click();
    expect(await titleOf(page)).toBe('Your account');
    await press(page, 'Sign out');

    await typePassword(page, 'bob');
    await typeCode(page, (codes[0] ?? '').toUpperCase());
    await page.getByRole('link', { name: 'Your account' }).click();
    expect(await titleOf(page)).toBe('Your account');
    expect(await page.getByText('9 recovery codes are left.').count()).toBe(1);
    await press(page, 'Sign out');

    await typePassword(page, 'bob');
    await typeCode(page, codes[0] ?? '');
    expect(await page.getByRole('alert').textContent()).toContain('was used already');
    await page.context().close();
  });

  it('ends another session, and signs out everywhere', async () => {
    const user = await makeUser('carol');
    const [one, two] = [await browser.openPage({ javaScript: false }), await browser.openPage({ javaScript: false })];
    await signInWithLink(one, user);
    await signInWithLink(two, user);
    const foreign = two.getByRole('row').filter({ hasText: 'Sign-in link', hasNotText: '(this one)' });
    await foreign.getByRole('button', { name: 'End' }).click();
    expect(await two.getByRole('status').first().textContent()).toBe('The session has ended.');
    await one.reload();
    expect(await titleOf(one)).toBe('Sign in');
    await press(two, 'Sign out everywhere');
    await two.goto(`${server.url}/account`);
    expect(await titleOf(two)).toBe('Sign in');
    await Promise.all([one, two].map((page) => page.context().close()));
  });
});

describe('with a passkey, a person', () => {
  it('signs in without a name, and replaces the password by it', async () => {
    const page = await browser.openPage();
    const authenticator = await addAuthenticator(page);
    await signInWithLink(page, await makeUser('dora'));
    await setPassword(page);
    await page.getByLabel('Name of the new passkey').fill('My key');
    await press(page, 'Add a passkey');
    await page.getByText('The passkey is added.').waitFor();
    expect(await authenticator.countCredentials()).toBe(1);
    expect(await page.getByLabel('Name of the passkey').inputValue()).toBe('My key');
    await press(page, 'Remove the password');
    await page.getByText('Your password is removed.').waitFor();
    await press(page, 'Sign out');
    await press(page, 'Sign in with a passkey');
    await page.waitForURL(`${server.url}/app`);
    await page.goto(`${server.url}/account`);
    expect(await page.getByRole('cell', { name: 'Passkey', exact: true }).count()).toBe(1);
    await press(page, 'Remove');
    expect(await page.getByRole('alert').first().textContent()).toContain('before you remove the last passkey');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('cannot be replaced by an attacker who sees the answer of the passkey', async () => {
    const page = await browser.openPage();
    await addAuthenticator(page);
    await signInWithLink(page, await makeUser('gina'));
    await press(page, 'Add a passkey');
    await page.getByText('The passkey is added.').waitFor();
    await press(page, 'Sign out');
    const captured = page.waitForRequest((request) => request.url().endsWith('/sign-in/passkey'));
    await page.route('**/sign-in/passkey', (route) => route.abort());
    await press(page, 'Sign in with a passkey');
    const fields = Object.fromEntries(new URLSearchParams((await captured).postData() ?? ''));
    const send = (changed: Record<string, string>) =>
      new FormClient(server.url).post('/sign-in/passkey', { ...fields, ...changed });

    const response = JSON.parse(fields['response'] ?? '') as { response: { clientDataJSON: string } };
    const clientData = Buffer.from(response.response.clientDataJSON, 'base64url').toString();
    const foreign = Buffer.from(clientData.replace(server.url, 'https://attacker.example')).toString('base64url');
    const phished = { ...response, response: { ...response.response, clientDataJSON: foreign } };
    expect((await send({ response: JSON.stringify(phished) })).status).toBe(422);
    const otherPage = await (await new FormClient(server.url).get('/sign-in')).text();
    const otherToken = /name="token" value="([^"]+)"/.exec(otherPage)?.[1] ?? '';
    expect((await send({ token: otherToken })).status).toBe(422);
    expect((await send({ response: '{"id":"unknown","response":{}}' })).status).toBe(422);
    expect((await send({ response: 'no JSON' })).status).toBe(422);
    // The answer is used once, even if two requests have it at the same time.
    const answers = await Promise.all([send({}), send({})]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 422]);
    expect((await send({})).status).toBe(422);
    await page.context().close();
  });

  it('cannot sign in if the device does not verify who uses it', async () => {
    const page = await browser.openPage();
    const authenticator = await addAuthenticator(page);
    await signInWithLink(page, await makeUser('eve'));
    await press(page, 'Add a passkey');
    await page.getByText('The passkey is added.').waitFor();
    await press(page, 'Sign out');
    await authenticator.setUserVerified(false);
    await press(page, 'Sign in with a passkey');
    await page.getByText('The passkey was not used.').waitFor();
    expect(await titleOf(page)).toBe('Sign in');
    await page.context().close();
  });
});

describe('the pages', () => {
  it('fit the width of a phone', async () => {
    const page = await browser.openPage();
    await page.setViewportSize({ width: 360, height: 740 });
    await signInWithLink(page, await makeUser('hanna-with-a-rather-long-name'));
    for (const path of ['/account', '/account/totp', '/sign-in?confirm=1']) {
      await page.goto(`${server.url}${path}`);
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, 360]);
    }
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('with a link of the operator that resets everything, a person', () => {
  it('signs in without the lost factors, and other sessions end', async () => {
    const user = await makeUser('fred');
    const [old, page] = [await browser.openPage(), await browser.openPage()];
    await signInWithLink(old, user);
    await setPassword(old);
    await signInWithLink(page, user, true);
    expect(await titleOf(page)).toBe('Your account');
    expect(await page.getByRole('button', { name: 'Set a password' }).count()).toBe(1);
    await old.reload();
    expect(await titleOf(old)).toBe('Sign in');
    await Promise.all([old, page].map((window) => window.context().close()));
  });
});
