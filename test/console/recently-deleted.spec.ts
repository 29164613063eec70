import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { chooseRowAction, inspectScreen, openConsole, expectElements } from '../support/console.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let admin: string;
let member: string;
let admins: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  admins = await makeTeam(server, 'acme', 'admins');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  admin = (await makeMember(server, 'acme', 'ada', [admins])).id;
  member = (await makeMember(server, 'acme', 'mia')).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const makeDeleted = async (name: string): Promise<string> => {
  const id = await makeWorkspace(server, 'acme', name);
  await grantWorkspaceAccess(server, admins, id, 'admin');
  expectStatus(await server.delete(`/api/v2/workspaces/${id}`), 204);
  return id;
};

const open = async (user: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: '/app/acme/settings/recently-deleted' });
  await page.getByRole('heading', { level: 1, name: 'Recently deleted' }).waitFor();
  return page;
};

describe('deleted workspaces', () => {
  it('come back with the undo of their deletion', async () => {
    const id = await makeWorkspace(server, 'acme', 'undone');
    const page = await openConsole(browser, server, { user: owner, path: '/app/acme/workspaces/undone/settings' });
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete undone' });
    await dialog.getByLabel('Type undone to confirm').fill('undone');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The workspace undone is deleted.').waitFor();
    expectStatus(await server.get(`/api/v2/workspaces/${id}`), 404);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The workspace undone is back, without its runs.').waitFor();
    await page.getByRole('link', { name: 'undone' }).waitFor();
    expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are recovered with another name if theirs is taken', async () => {
    const id = await makeDeleted('network');
    await makeWorkspace(server, 'acme', 'network');
    const page = await open(owner);
    const table = page.getByRole('table', { name: 'Recently deleted' });
    await table.getByText('network').waitFor();
    expect(await inspectScreen(page, 'recently-deleted')).toEqual([]);
    await page.getByRole('button', { name: 'Recover network' }).click();
    const dialog = page.getByRole('dialog', { name: 'Recover network' });
    await dialog.getByRole('button', { name: 'Recover' }).click();
    await dialog.getByText('Name has already been taken').waitFor();
    expect(await inspectScreen(page, 'recover-taken')).toEqual([]);
    await dialog.getByLabel('Name').fill('network-2');
    await dialog.getByRole('button', { name: 'Recover' }).click();
    await page.getByText('network-2 is recovered. The name was network.').waitFor();
    await page.getByRole('heading', { name: 'Nothing that you can recover' }).waitFor();
    expect(expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data.attributes.name).toBe('network-2');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are deleted for good after the person has typed their name', async () => {
    const id = await makeDeleted('gone');
    const page = await open(owner);
    await chooseRowAction(page, 'gone', 'Delete for good');
    const dialog = page.getByRole('dialog', { name: 'Delete gone for good' });
    await dialog.getByLabel('Type gone to confirm').fill('gone');
    expect(await inspectScreen(page, 'purge')).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete for good' }).click();
    await page.getByText('gone is deleted for good.').waitFor();
    expectStatus(await server.post(`/api/v2/recoverable-items/${id}/actions/recover`), 404);
    await page.context().close();
  });

  it('are there for people who may delete them, and for no other member', async () => {
    await makeDeleted('shared');
    const page = await open(admin);
    await page.getByRole('table', { name: 'Recently deleted' }).getByText('shared').waitFor();
    await page.context().close();
    const other = await open(member);
    await other.getByRole('heading', { name: 'Nothing that you can recover' }).waitFor();
    await expectElements(other.getByRole('table', { name: 'Recently deleted' }), 0);
    await other.context().close();
  });
});
