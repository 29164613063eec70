import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, expectElements } from '../support/console.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
  grantWorkspaceAccess,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let reader: string;
let stranger: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  await makeOrganization(server, 'other');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  const team = await makeTeam(server, 'acme', 'readers');
  for (const name of ['app-one', 'app-two', 'net-one']) {
    await grantWorkspaceAccess(server, team, await makeWorkspace(server, 'acme', name), 'read');
  }
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
  stranger = (await makeMember(server, 'other', 'sam')).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const openList = async (user: string, search = ''): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/acme/workspaces${search}` });
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
};

const waitForCount = (page: TestPage, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
const press = (page: TestPage, name: string) => page.getByRole('button', { name, exact: true }).click();
const nameField = (page: TestPage) => page.getByRole('dialog').getByRole('textbox', { name: 'Name' });
const rowOf = (page: TestPage, name: string) =>
  page.getByRole('list', { name: 'Saved views' }).getByRole('listitem').filter({ hasText: name });

/** Returns the id and the query of a view. */
const findView = async (name: string): Promise<{ readonly id: string; readonly query: string } | undefined> => {
  const { data } = expectStatus(await server.get('/api/v2/organizations/acme/saved-views'), 200).body;
  const view = data.find(({ attributes }: any) => attributes.name === name);
  return view && { id: view.id as string, query: view.attributes.query as string };
};

describe('saved views', () => {
  it('keep filters, order and columns, and open by a link', async () => {
    const page = await openList(owner, '?name=app&sort=-name&columns=run&columns=tags');
    await waitForCount(page, '2 workspaces');
    await press(page, 'Views');
    await page.getByText('Nobody has saved a view yet').waitFor();
    await nameField(page).fill('Apps');
    await page.getByLabel('Share it with everybody in acme').check();
    expect(await inspectScreen(page, 'workspaces-views-empty')).toEqual([]);
    await press(page, 'Save as a new view');
    await page.getByRole('button', { name: 'View: Apps' }).waitFor();
    const view = await findView('Apps');
    expect(view?.query).toBe('name=app&sort=-name&columns=run&columns=tags');
    await page.context().close();

    const opened = await openList(reader, `?view=${view?.id}`);
    await waitForCount(opened, '2 workspaces');
    await opened.locator('[data-index="0"]').filter({ hasText: 'app-two' }).waitFor();
    expect(await opened.getByLabel('Search workspaces by name').inputValue()).toBe('app');
    expect(await opened.getByRole('columnheader').allInnerTexts()).toEqual(['', 'Name', 'Current run', 'Tags']);
    await press(opened, 'View: Apps');
    await rowOf(opened, 'Apps').getByText('Shared').waitFor();
    await expectElements(opened.getByRole('button', { name: 'Delete Apps' }), 0);
    expect(await inspectScreen(opened, 'workspaces-views-member')).toEqual([]);
    await opened.context().close();
  });

  it('are replaced, renamed, made private and deleted by their person', async () => {
    const page = await openList(owner, `?view=${(await findView('Apps'))?.id}`);
    await waitForCount(page, '2 workspaces');
    await page.getByLabel('Search workspaces by name').fill('net');
    await waitForCount(page, '1 workspace');
    await press(page, 'View: Apps (changed)');
    await page.getByRole('button', { name: 'Replace Apps' }).waitFor();
    expect(await inspectScreen(page, 'workspaces-views-changed')).toEqual([]);
    await press(page, 'Replace Apps');
    await page.getByRole('button', { name: 'View: Apps', exact: true }).waitFor();
    expect((await findView('Apps'))?.query).toBe('name=net&sort=-name&columns=run&columns=tags');
    await press(page, 'View: Apps');
    await press(page, 'Rename Apps');
    await page.getByLabel('New name of Apps').fill('Networks');
    await press(page, 'Rename');
    await rowOf(page, 'Networks').waitFor();
    await press(page, 'Stop sharing Networks');
    await rowOf(page, 'Networks').getByText('Private').waitFor();
    expect(await findView('Networks')).toBeUndefined();
    await press(page, 'Delete Networks');
    await page.getByText('You lose Networks.').waitFor();
    await page.getByRole('button', { name: 'Delete Networks' }).last().click();
    await rowOf(page, 'Networks').waitFor({ state: 'detached' });
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('show the reason of a refusal beside the field', async () => {
    const page = await openList(reader);
    for (const outcome of ['Twice is saved', 'Name has already been taken']) {
      await page.getByRole('button', { name: /^Views?/ }).click();
      await nameField(page).fill('Twice');
      await press(page, 'Save as a new view');
      await page.getByText(outcome).waitFor();
    }
    await expectElements(page.getByRole('dialog'), 1);
    await page.context().close();
  });

  it('describe a link that leads nowhere, and nothing to a stranger', async () => {
    const page = await openList(owner, '?view=sview-unknown');
    await waitForCount(page, '3 workspaces');
    await press(page, 'Views');
    await page.getByText('The view in the address does not exist, or it is private.').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('button:focus').filter({ hasText: 'Views' }).waitFor();
    const notice = page.getByRole('alert').filter({ hasText: 'This saved view does not exist any more' });
    await notice.getByRole('button', { name: 'Close' }).click();
    await page.waitForURL('**/app/acme/workspaces');
    await page.context().close();
    const refused = await openList(stranger, '?view=sview-unknown');
    await refused.getByRole('heading', { name: 'This organization does not exist, or you have no access' }).waitFor();
    expect(await inspectScreen(refused, 'workspaces-views-stranger')).toEqual([]);
    await refused.context().close();
  });
});
