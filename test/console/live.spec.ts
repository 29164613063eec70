import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, expectElements } from '../support/console.js';
import { openFlakyConnection } from '../support/flaky-connection.js';
import { waitUntil } from '../support/product.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { makeVariable } from '../support/variables.js';

const MORE_THAN_HIDDEN = '00:31';
const BURST = 1_000;

let server: TestServer;
let browser: TestBrowser;
let owner: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const mark = (page: TestPage, text: string) => page.getByRole('banner').getByText(text, { exact: true });

const rowOf = (page: TestPage, name: string) => page.getByRole('row').filter({ hasText: name });

const openList = async (url = server.url): Promise<TestPage> => {
  const page = await openConsole(browser, { ...server, url }, { user: owner, path: '/app/acme/workspaces' });
  await page.getByRole('heading', { level: 1, name: 'Workspaces' }).waitFor();
  return page;
};

const lock = async (workspace: string, reason: string): Promise<void> =>
  void expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`, { reason }), 200);

const waitForLock = (page: TestPage, name: string, reason: string) =>
  rowOf(page, name)
    .getByRole('img', { name: `Locked by admin: ${reason}` })
    .waitFor();

/** Counts the requests whose path ends with this text. */
const countRequests = (page: TestPage, path: string): { readonly count: number } => {
  const requests = { count: 0 };
  page.on('request', (request) => {
    if (new URL(request.url()).pathname.endsWith(path)) requests.count += 1;
  });
  return requests;
};

/** The state as a text, because the types of the tests do not include those of browsers. */
const setVisibility = (page: TestPage, state: 'hidden' | 'visible'): Promise<unknown> =>
  page.evaluate(
    `Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${state}' });
     document.dispatchEvent(new Event('visibilitychange'))`,
  );

describe('the console', () => {
  it('shows what another client changes, until the person leaves the organization', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'network');
    const page = await openList();
    await rowOf(page, 'network').waitFor();
    await mark(page, 'Live').waitFor();
    const documents = countRequests(page, '/app/acme/workspaces');
    await lock(workspace, 'By another client');
    await waitForLock(page, 'network', 'By another client');
    await makeWorkspace(server, 'acme', 'storage');
    await rowOf(page, 'storage').waitFor();
    expect(documents.count).toBe(0);
    expect(await inspectScreen(page, 'live')).toEqual([]);
    const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/organizations/acme/events'));
    await page.getByRole('link', { name: 'Cadastre: your organizations' }).click();
    await ended;
    await mark(page, 'Live').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('resumes when the connection to the server was broken', async () => {
    const [first, second] = [await makeWorkspace(server, 'acme', 'dns'), await makeWorkspace(server, 'acme', 'mail')];
    const connection = await openFlakyConnection(server.url.replace('localhost', '127.0.0.1'));
    const page = await openList(connection.url.replace('127.0.0.1', 'localhost').replace(/\/$/, ''));
    await mark(page, 'Live').waitFor();
    await connection.cut();
    await mark(page, 'Reconnecting').waitFor();
    await lock(first, 'While it was broken');
    await connection.mend();
    await mark(page, 'Live').waitFor();
    await waitForLock(page, 'dns', 'While it was broken');
    await lock(second, 'After that');
    await waitForLock(page, 'mail', 'After that');
    expect(await mark(page, 'Live').isVisible()).toBe(true);
    await page.context().close();
    await connection.close();
  });

  it('stops while the tab is hidden for long, and resumes when it is shown', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'cache');
    const list = await openList();
    await list.clock.install();
    await list.reload();
    await mark(list, 'Live').waitFor();
    await setVisibility(list, 'hidden');
    await list.clock.fastForward(MORE_THAN_HIDDEN);
    await mark(list, 'Live').waitFor({ state: 'detached' });
    await lock(workspace, 'While it was hidden');
    await setVisibility(list, 'visible');
    await mark(list, 'Live').waitFor();
    await waitForLock(list, 'cache', 'While it was hidden');
    expect(list.pageErrors).toEqual([]);
    await list.context().close();
  });

  it('reads a list again once a second at most, however many messages arrive', async () => {
    const message = 'event: changed\ndata: {"resource":{"type":"workspaces","id":"ws-1"}}\n\n';
    const list = await openList();
    const requests = countRequests(list, '/organizations/acme/workspaces');
    await list.route('**/organizations/acme/events*', (route) =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: `retry: 600000\n\n${message.repeat(BURST)}`,
      }),
    );
    await list.reload();
    // One when the screen opens, one after the first message, and one after all others.
    await waitUntil(() => requests.count >= 3, 'the list has been read again');
    expect(requests.count).toBe(3);
    await list.context().close();
  });

  it('reads variables again only if a variable has changed, because the server records each read', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'queue');
    const page = await openConsole(browser, server, { user: owner, path: '/app/acme/workspaces/queue/variables' });
    await page.getByRole('heading', { name: 'There is no variable yet' }).waitFor();
    await mark(page, 'Live').waitFor();
    const reads = countRequests(page, `/workspaces/${workspace}/all-vars`);
    await lock(workspace, 'Maintenance');
    await page.getByText('Locked').first().waitFor();
    expect(reads.count).toBe(0);
    await makeVariable(server, `/api/v2/workspaces/${workspace}/vars`, { key: 'region' });
    await page.getByRole('table', { name: 'Terraform variables' }).getByText('region').first().waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('follows the new name of a workspace, and keeps the tab and what the person has entered', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'mirror');
    const path = '/app/acme/workspaces/mirror/variables?from=link';
    const page = await openConsole(browser, server, { user: owner, path });
    await page.getByRole('button', { name: 'New variable' }).click();
    const key = page.getByRole('dialog').getByLabel('Key');
    await key.fill('region');
    await mark(page, 'Live').waitFor();
    expectStatus(await server.patch(`/api/v2/workspaces/${workspace}`, resource('workspaces', { name: 'copy' })), 200);
    await page.waitForURL('**/app/acme/workspaces/copy/variables?from=link');
    await page.getByText('This workspace has a new name: copy.').waitFor();
    expect(await key.inputValue()).toBe('region');
    await expectElements(key.and(page.locator(':focus')), 1);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('table', { name: 'Terraform variables' }).getByText('region').first().waitFor();
    await page.getByRole('link', { name: 'Overview', exact: true }).click();
    await page.getByRole('button', { name: 'Add a tag' }).click();
    const tagKey = page.getByRole('dialog').getByLabel('Key');
    await tagKey.fill('team');
    expectStatus(await server.patch(`/api/v2/workspaces/${workspace}`, resource('workspaces', { name: 'third' })), 200);
    await page.getByRole('dialog', { name: 'New tag of third' }).waitFor();
    expect(await tagKey.inputValue()).toBe('team');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('hides what a person may no longer read, and marks what it cannot read again', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'vault');
    await makeVariable(server, `/api/v2/workspaces/${workspace}/vars`, { key: 'region' });
    const team = await makeTeam(server, 'acme', 'readers');
    const access = await grantWorkspaceAccess(server, team, workspace, 'read');
    const { id: user } = await makeMember(server, 'acme', 'rita', [team]);
    const page = await openConsole(browser, server, { user, path: '/app/acme/workspaces/vault/variables' });
    const variable = page.getByRole('table', { name: 'Terraform variables' }).getByText('region').first();
    await variable.waitFor();
    await mark(page, 'Live').waitFor();
    const details = '**/organizations/acme/workspaces/vault?*';
    await page.route(details, (route) => route.fulfill({ status: 500, json: { errors: [] } }));
    await lock(workspace, 'Maintenance');
    await page.getByText('This may be out of date').first().waitFor();
    expect(await variable.isVisible()).toBe(true);
    await page.unroute(details);
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByText('This may be out of date').waitFor({ state: 'detached' });
    expectStatus(await server.delete(`/api/v2/team-workspaces/${access}`), 204);
    await page.getByRole('heading', { name: 'This workspace does not exist, or you have no access' }).waitFor();
    // Neither the badges nor the buttons of the header stay.
    await expectElements(page.getByText('Locked'), 0);
    await expectElements(page.getByRole('button', { name: /lock/i }), 0);
    await expectElements(variable, 0);
    await page.context().close();
  });
});
