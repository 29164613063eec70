import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { AdjustableClock } from '../support/clocks.js';
import { inspectScreen, openConsole, startSessionIn, expectElements } from '../support/console.js';
import { expectStatus, makeMember, makeOrganization } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { signInTestUser } from '../support/sessions.js';
import { makePerson, PASSWORD } from '../support/sign-in.js';

const clock = new AdjustableClock();
let server: TestServer;
let browser: TestBrowser;
let rita: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([
    startTestServer({ clock, forBrowsers: true, followers: true }),
    openBrowser(),
  ]);
  await makeOrganization(server, 'acme');
  rita = (await makeMember(server, 'acme', 'rita')).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (path: string, heading: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user: rita, path: `/app/~account${path}` });
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  return page;
};

describe('the account of a person', () => {
  it('is reached by the menu, and changes the name with an undo and the address after a confirmation', async () => {
    const page = await openConsole(browser, server, { user: rita, path: '/app' });
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Your account' }).click();
    await page.getByRole('heading', { level: 1, name: 'Profile' }).waitFor();
    const name = page.getByLabel('User name');
    await name.fill('admin');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Username is reserved').waitFor();
    await name.fill('rita-renamed');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The former settings are back.').waitFor();
    await page.getByLabel('E-mail address').fill('moved@people.test');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('A site administrator must confirm the new address moved@people.test.').waitFor();
    expect(await inspectScreen(page, 'account-profile')).toEqual([]);
    await page.getByRole('link', { name: 'Sign-in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign-in' }).waitFor();
    expect(await inspectScreen(page, 'account-sign-in')).toEqual([]);
    await page.getByRole('link', { name: 'Change the password' }).click();
    await page.waitForURL('**/account#password-title');
    await page.getByRole('link', { name: 'Console' }).click();
    await page.getByRole('heading', { level: 1, name: 'Organizations' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('lists its sessions, ends one of them and all others', async () => {
    const others = [await signInTestUser(server, rita), await signInTestUser(server, rita)];
    const page = await open('/sessions', 'Sessions');
    const table = page.getByRole('table', { name: 'Sessions' });
    await table.getByText('This browser').waitFor();
    expect(await inspectScreen(page, 'account-sessions')).toEqual([]);
    await page
      .getByRole('button', { name: /^End the session at/ })
      .first()
      .click();
    await page.getByText('The session has ended.').waitFor();
    await page.getByRole('button', { name: 'End all other sessions' }).click();
    const dialog = page.getByRole('dialog', { name: 'End all other sessions' });
    expect(await inspectScreen(page, 'account-sessions-end')).toEqual([]);
    await dialog.getByRole('button', { name: 'End', exact: true }).click();
    await page.getByRole('button', { name: 'End all other sessions' }).waitFor({ state: 'detached' });
    for (const other of others) expectStatus(await other.get('/api/v2/account/details'), 401);
    await expectElements(table.getByRole('row'), 2);
    await page.context().close();
  });

  it('creates a restricted token, shows it once, and revokes it', async () => {
    const page = await open('/tokens', 'Your tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog', { name: 'New token' });
    await dialog.getByLabel('Description').fill('Laptop');
    await dialog.getByLabel(/^Read only/).check();
    await dialog.getByRole('combobox', { name: 'Only in this organization' }).click();
    await dialog.getByRole('option', { name: 'acme' }).click();
    await dialog.getByLabel('Last day').fill('2099-01-31');
    expect(await inspectScreen(page, 'account-token-new')).toEqual([]);
    clock.offsetMs += 16 * 60_000;
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog', { name: 'Sign in again to continue' }).waitFor();
    await startSessionIn(page, server, rita);
    await page.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByText('Copy the token now').waitFor();
    const secret = (await dialog.getByRole('region', { name: 'the token' }).textContent()) ?? '';
    expect(await dialog.getByRole('region', { name: 'the credentials file' }).textContent()).toContain(secret);
    expect(await inspectScreen(page, 'account-token-created')).toEqual([]);
    const client = server.as(secret);
    expectStatus(await client.get('/api/v2/organizations/acme'), 200);
    expectStatus(await client.post('/api/v2/organizations/acme/workspaces', {}), 403);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    const row = page.getByRole('table', { name: 'Your tokens' }).getByRole('row').filter({ hasText: 'Laptop' });
    await row.getByText('Read only, in acme').waitFor();
    expect(await inspectScreen(page, 'account-tokens')).toEqual([]);
    await page.getByRole('button', { name: 'Revoke Laptop' }).click();
    await page.getByRole('dialog', { name: 'Revoke Laptop' }).getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    expectStatus(await client.get('/api/v2/account/details'), 401);
    await page.context().close();
  });

  it('lists what changed lately', async () => {
    const page = await open('/changes', 'Recent changes');
    const table = page.getByRole('table', { name: 'Recent changes' });
    await table.getByText('A token was created').first().waitFor();
    expect(await inspectScreen(page, 'account-changes')).toEqual([]);
    await page.context().close();
  });

  it('shows its tokens at the address of `terraform login`, also after a sign-in', async () => {
    await makePerson(server, 'visitor');
    const page = await browser.openPage();
    await page.goto(`${server.url}/app/settings/tokens?source=terraform-login`);
    await page.getByLabel('User name or e-mail address').fill('visitor');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Your tokens' }).waitFor();
    await page.getByRole('heading', { name: 'You have no tokens' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/app/~account/tokens');
    await page.context().close();
  });
});
