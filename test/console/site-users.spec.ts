import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { expectDisabled, inspectScreen, openConsole, expectElements } from '../support/console.js';
import { expectStatus, makeMember, makeOrganization } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { enableTotp, makePerson } from '../support/sign-in.js';

let server: TestServer;
let browser: TestBrowser;
let admin: string;
let member: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  await makeOrganization(server, 'acme');
  admin = (await ensureUser(server.store, server.runtime.ids, 'root', true)).id;
  member = (await makeMember(server, 'acme', 'rita')).id;
  await enableTotp(server, await makePerson(server, 'carol'));
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (user: string, path = ''): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/~site/users${path}` });
  await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
  return page;
};

const rowOf = (page: TestPage, name: string) =>
  page.getByRole('table', { name: 'Users' }).getByRole('row').filter({ hasText: name });

/** Chooses an action from the menu of a row. */
const choose = async (page: TestPage, name: string, action: string) => {
  await page.getByRole('button', { name: `More actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: action }).click();
};

describe('the users of the site', () => {
  it('are found and suspended, and can sign in after the suspension has ended', async () => {
    const page = await open(admin);
    await rowOf(page, 'root').getByText('Site administrator').waitFor();
    await rowOf(page, 'rita').getByText('acme').waitFor();
    await rowOf(page, 'carol').getByText('Set up').waitFor();
    expect(await inspectScreen(page, 'site-users')).toEqual([]);
    await page.getByRole('button', { name: 'Suspend rita' }).click();
    const dialog = page.getByRole('dialog', { name: 'Suspend rita' });
    await dialog.getByText('All tokens and sessions of the user end').waitFor();
    expect(await inspectScreen(page, 'site-user-suspend')).toEqual([]);
    await dialog.getByRole('button', { name: 'Suspend' }).click();
    await rowOf(page, 'rita').getByText('Suspended').waitFor();
    await page.getByText('Suspended', { exact: true }).first().click();
    await page.waitForURL('**/users?status=suspended');
    await rowOf(page, 'carol').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'End the suspension of rita' }).click();
    await page.getByRole('heading', { name: 'Nobody matches' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('become administrators and ordinary users again, with an undo', async () => {
    const page = await open(admin, '?name=rita');
    await choose(page, 'rita', 'Make site administrator');
    const dialog = page.getByRole('dialog', { name: 'Make rita a site administrator' });
    await dialog.getByRole('button', { name: 'Make site administrator' }).click();
    await rowOf(page, 'rita').getByText('Site administrator').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await rowOf(page, 'rita').getByText('Site administrator').waitFor({ state: 'detached' });
    const { body } = expectStatus(await server.get('/api/v2/admin/users?q=rita'), 200);
    expect(body.data[0].attributes['is-admin']).toBe(false);
    await page.context().close();
  });

  it('lose their second factors, and are forgotten after their name was typed', async () => {
    const page = await open(admin, '?name=carol');
    await choose(page, 'carol', 'Remove second factors');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove second factors' }).click();
    await rowOf(page, 'carol').getByText('None').nth(1).waitFor();
    await choose(page, 'carol', 'Forget');
    const dialog = page.getByRole('dialog', { name: 'Forget carol' });
    const forget = dialog.getByRole('button', { name: 'Forget' });
    await expectDisabled(forget);
    await dialog.getByLabel('Type carol to confirm').fill('carol');
    expect(await inspectScreen(page, 'site-user-forget')).toEqual([]);
    await forget.click();
    await page.getByRole('heading', { name: 'Nobody matches' }).waitFor();
    expect(expectStatus(await server.get('/api/v2/admin/users?q=carol'), 200).body.data).toEqual([]);
    await page.context().close();
  });

  it('stay with one administrator, and the dialog says why', async () => {
    const first = expectStatus(await server.get('/api/v2/account/details'), 200).body.data.id as string;
    expectStatus(await server.post(`/api/v2/admin/users/${first}/actions/revoke_admin`), 200);
    const page = await open(admin, '?name=root');
    await choose(page, 'root', 'Revoke site administration');
    const dialog = page.getByRole('dialog', { name: 'Revoke the site administration of root' });
    await dialog.getByText('This is your own account.').waitFor();
    await dialog.getByRole('button', { name: 'Revoke site administration' }).click();
    await dialog.getByText('The last administrator of the site must stay one').waitFor();
    await page.context().close();
  });

  it('are hidden from everybody else', async () => {
    const page = await open(member);
    await page.getByRole('heading', { name: 'This screen is for site administrators' }).waitFor();
    await expectElements(page.getByRole('table'), 0);
    await page.context().close();
  });
});
