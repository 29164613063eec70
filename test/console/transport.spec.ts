import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { RandomIds } from '#platform/host';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, expectElements } from '../support/console.js';
import { openFlakyConnection } from '../support/flaky-connection.js';
import { waitUntil } from '../support/product.js';
import { expectStatus, makeMember, makeOrganization, makeWorkspace } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

/* The requests of the console, and the stream that its tabs share. */

const WORKSPACES = 62;
const TABS = 8;
const HOUR_MS = 3_600_000;
const MAX_BYTES = 300_000;
const MAX_REQUESTS = 55;

/**
 * Live streams find the events since a time by their ids. A page asks for those since 5 seconds before it was opened
 * (ADR 93), so it would read again because of a workspace that the test has just made.
 */
class IdsOfAnHourAgo extends RandomIds {
  override uuid(): string {
    const id = super.uuid();
    const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) - HOUR_MS;
    const digits = time.toString(16).padStart(12, '0');
    return `${digits.slice(0, 8)}-${digits.slice(8)}${id.slice(13)}`;
  }
}

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let first: string;

beforeAll(async () => {
  const options = { forBrowsers: true, followers: true, ids: new IdsOfAnHourAgo() };
  [server, browser] = await Promise.all([startTestServer(options), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  first = await makeWorkspace(server, 'acme', 'network');
  for (let number = 1; number < WORKSPACES; number += 1) await makeWorkspace(server, 'acme', `service-${number}`);
});

afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const contexts: { readonly close: () => Promise<void> }[] = [];

const open = async (path: string, url = server.url): Promise<TestPage> => {
  const page = await openConsole(browser, { ...server, url }, { user: owner, path });
  contexts.push(page.context());
  return page;
};

const mark = (page: TestPage, text: string) => page.getByRole('banner').getByText(text, { exact: true });

type Traffic = { readonly addresses: readonly string[]; readonly bytes: () => number };

/** Counts the requests of a page from now on, and the bytes that they take on the wire, with headers. */
const countTraffic = async (page: TestPage): Promise<Traffic> => {
  const session = await page.context().newCDPSession(page);
  const addresses: string[] = [];
  let bytes = 0;
  session.on('Network.requestWillBeSent', ({ request }) => addresses.push(request.url.replace(server.url, '')));
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  await session.send('Network.enable');
  return { addresses, bytes: () => bytes };
};

describe('the first view', () => {
  it.each([
    ['/app/acme', 'acme'],
    ['/app/acme/workspaces', 'Workspaces'],
  ])('of %s takes at most 300 kB and 55 requests, and reads nothing twice', async (path, title) => {
    const page = await open('/pages/icon.svg');
    const traffic = await countTraffic(page);
    await page.goto(`${server.url}${path}`);
    await page.getByRole('heading', { level: 1, name: title }).waitFor();
    await mark(page, 'Live').waitFor();
    await page
      .getByText(/^service-\d+$/)
      .first()
      .waitFor();
    await page.waitForLoadState('networkidle');
    const reads = traffic.addresses.filter((address) => address.startsWith('/api/') && !address.includes('/events'));
    expect(reads.length).toBeGreaterThan(2);
    expect(reads.filter((address, index) => reads.indexOf(address) !== index)).toEqual([]);
    expect(traffic.bytes()).toBeGreaterThan(100_000);
    expect(traffic.bytes()).toBeLessThanOrEqual(MAX_BYTES);
    expect(traffic.addresses.slice(MAX_REQUESTS)).toEqual([]);
  });
});

describe('tabs of one browser', () => {
  it('share a live stream, so that eight of them show each change', async () => {
    const page = await open('/app/acme/workspaces');
    const pages = [page];
    for (let number = 1; number < TABS; number += 1) {
      const other = (await page.context().newPage()) as TestPage;
      await other.goto(`${server.url}/app/acme/workspaces`);
      pages.push(other);
    }
    for (const each of pages) await mark(each, 'Live').waitFor();
    expectStatus(await server.post(`/api/v2/workspaces/${first}/actions/lock`, { reason: 'For all' }), 200);
    for (const each of pages) await each.getByRole('img', { name: 'Locked by admin: For all' }).waitFor();
    await waitUntil(
      async () => /^cadastre_live_streams_open 1$/m.test((await server.get('/metrics')).text),
      'one live stream is open',
    );
    // The tab with the stream closes, and another one takes over.
    await pages.at(-1)?.close();
    expectStatus(await server.post(`/api/v2/workspaces/${first}/actions/unlock`), 200);
    for (const each of pages.slice(0, -1))
      await each.getByRole('img', { name: 'Locked by admin: For all' }).waitFor({ state: 'detached' });
  });

  it('show nothing any more after the person has signed out in one of them', async () => {
    const page = await open('/app/acme/workspaces');
    await page.getByRole('row').filter({ hasText: 'network' }).waitFor();
    const other = (await page.context().newPage()) as TestPage;
    await other.goto(`${server.url}/app/acme`);
    await other.getByRole('button', { name: 'Account' }).click();
    await other.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'You have signed out in another tab' }).waitFor();
    await expectElements(page.getByText('network'), 0);
    await other.waitForURL('**/sign-in**');
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.waitForURL('**/sign-in?return_to=%2Fapp%2Facme%2Fworkspaces');
  });
});

describe('a screen that was opened while the server was away', () => {
  it('is read by itself when the server is back', async () => {
    const connection = await openFlakyConnection(server.url.replace('localhost', '127.0.0.1'));
    const page = await open('/app/acme', connection.url.replace('127.0.0.1', 'localhost').replace(/\/$/, ''));
    await mark(page, 'Live').waitFor();
    await page.getByRole('link', { name: 'Workspaces', exact: true }).click();
    await page.getByText('network', { exact: true }).waitFor();
    await connection.cut();
    await page.getByLabel('Search workspaces by name').fill('service-1');
    await page.getByText('Loading failed').waitFor();
    await connection.mend();
    await page.getByText('service-11', { exact: true }).waitFor();
    // The code of this screen was not loaded before.
    await connection.cut();
    await page.getByRole('link', { name: 'Audit trail', exact: true }).click();
    await page.getByText('Loading failed').waitFor();
    await connection.mend();
    await page.getByRole('heading', { level: 1, name: 'Audit trail' }).waitFor();
    await expectElements(page.getByText('Loading failed'), 0);
    await connection.close();
  });
});

describe('a form', () => {
  it('asks before the Escape key, a click outside or another screen loses what was entered', async () => {
    const page = await open('/app/acme');
    await page.getByRole('link', { name: 'Teams', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'New team' });
    const prompt = page.getByRole('dialog', { name: 'Leave without saving?' });
    const openForm = async () => {
      await page.getByRole('button', { name: 'New team' }).click();
      await dialog.waitFor();
    };
    await openForm();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await openForm();
    await dialog.getByLabel('Name').fill('quality');
    await page.keyboard.press('Escape');
    await prompt.waitFor();
    expect(await inspectScreen(page, 'unsaved')).toEqual([]);
    await page.keyboard.press('Escape');
    await prompt.waitFor({ state: 'detached' });
    expect(await dialog.getByLabel('Name').inputValue()).toBe('quality');
    await page.mouse.click(5, 5);
    await prompt.getByRole('button', { name: 'Stay' }).click();
    await page.goBack();
    await prompt.getByRole('button', { name: 'Leave' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await dialog.getByLabel('Name').inputValue()).toBe('quality');
    await page.keyboard.press('Escape');
    await prompt.getByRole('button', { name: 'Leave' }).click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('of a token asks too, and nothing after the token was created', async () => {
    const page = await open('/app/~account/tokens');
    const dialog = page.getByRole('dialog', { name: 'New token' });
    const prompt = page.getByRole('dialog', { name: 'Leave without saving?' });
    await page.getByRole('button', { name: 'New token' }).click();
    await dialog.getByLabel('Description').fill('laptop');
    await page.keyboard.press('Escape');
    await prompt.getByRole('button', { name: 'Stay' }).click();
    expect(await dialog.getByLabel('Description').inputValue()).toBe('laptop');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.goBack();
    await expectElements(prompt, 0);
  });

  it('asks nothing after it was saved', async () => {
    const page = await open('/app/acme/teams');
    await page.getByRole('button', { name: 'New team' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('platform');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'platform' }).waitFor();
    await expectElements(page.getByRole('dialog'), 0);
    await waitUntil(() => page.url().includes('/teams/team-'), 'the team is shown');
  });
});
