import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { act, createAuditedOrganization } from '../support/audited-organization.js';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, expectElements } from '../support/console.js';
import { grantWorkspaceAccess, makeMember, makeTeam, makeWorkspace } from '../support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let olga: ApiTestClient;
let owner: string;
let reader: string;
let workspace: string;
let quiet: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const acme = await createAuditedOrganization(server, 'acme');
  workspace = acme.workspace;
  quiet = await makeWorkspace(server, 'acme', 'quiet');
  const member = await makeMember(server, 'acme', 'olga', [acme.ownersTeam]);
  [olga, owner] = [member, member.id];
  for (let time = 0; time < 75; time += 1) {
    await act(server, workspace, 'lock');
    await act(server, workspace, 'unlock');
  }
  const team = await makeTeam(server, 'acme', 'readers');
  await grantWorkspaceAccess(server, team, workspace, 'read');
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const openTrail = async (search = ''): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user: owner, path: `/app/acme/audit-trail${search}` });
  await page.getByRole('heading', { level: 1, name: 'Audit trail' }).waitFor();
  await page.getByRole('status').filter({ hasText: /entr/ }).waitFor();
  return page;
};

const waitForCount = (page: TestPage, text: string | RegExp) =>
  page.getByRole('status').filter({ hasText: text }).waitFor();

describe('the audit trail', () => {
  it('lists the newest entries first, and loads older pages when a person scrolls to them', async () => {
    const page = await openTrail();
    await page
      .locator('[data-index="0"]')
      .filter({ hasText: /\d{2}, \d+:\d{2}:\d{2}/ })
      .waitFor();
    expect(await inspectScreen(page, 'audit-trail')).toEqual([]);
    const count = Number(await page.getByRole('grid').getAttribute('aria-rowcount')) - 1;
    expect(count).toBeGreaterThan(150);
    await page.locator('[data-index="0"]').focus();
    await page.keyboard.press('End');
    await page
      .locator(`[data-index="${count - 1}"]`)
      .filter({ hasText: 'organization create' })
      .waitFor();
    await page.context().close();
  });

  it('keeps its filters in the address', async () => {
    const page = await openTrail();
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('combobox', { name: 'Action' }).fill('lock');
    await page.keyboard.press('Enter');
    await waitForCount(page, '75 entries');
    await page.getByRole('combobox', { name: 'Id of the resource' }).fill(quiet);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No entry matches' }).waitFor();
    expect(new URL(page.url()).search).toBe(`?action=lock&resource=${quiet}`);
    await page.getByRole('button', { name: 'Show all entries' }).click();
    await page.goto(`${server.url}/app/acme/audit-trail?action=create&type=workspace`);
    await waitForCount(page, '2 entries');
    expect(await inspectScreen(page, 'audit-trail-filters')).toEqual([]);
    await page.getByRole('button', { name: 'Last hour' }).click();
    await waitForCount(page, '2 entries');
    expect(new URL(page.url()).searchParams.get('since')).toMatch(/Z$/);
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await waitForCount(page, /1\d\d entries/);
    expect(new URL(page.url()).search).toBe('');
    await page.context().close();
  });

  it('names a filter that the server refuses', async () => {
    const page = await openConsole(browser, server, { user: owner, path: '/app/acme/audit-trail?type=No%20Type' });
    await page.getByRole('alert').filter({ hasText: 'filter[resource-type]' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('adds new entries at each message of the live stream, without polling', async () => {
    const page = await openTrail(`?resource=${quiet}`);
    await page.clock.install();
    await page.reload();
    await waitForCount(page, '1 entry');
    await page.getByRole('banner').getByText('Live', { exact: true }).waitFor();
    await act(olga, quiet, 'lock');
    const first = page.locator('[data-index="0"]').filter({ hasText: 'olga' }).filter({ hasText: 'workspace lock' });
    await first.getByText('quiet', { exact: true }).waitFor();
    const reads = { count: 0 };
    page.on('request', (request) => void (reads.count += Number(request.url().includes('after='))));
    // Polling would read again.
    await page.clock.fastForward('00:20');
    await act(olga, quiet, 'unlock');
    await waitForCount(page, '3 entries');
    expect(reads.count).toBe(1);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('polls while there is no live stream', async () => {
    const page = await openTrail(`?resource=${quiet}`);
    await page.route('**/organizations/acme/events*', (route) => route.abort());
    await page.reload();
    await waitForCount(page, '3 entries');
    await act(olga, quiet, 'lock');
    await waitForCount(page, '4 entries');
    await expectElements(page.getByRole('banner').getByText('Live', { exact: true }), 0);
    await act(olga, quiet, 'unlock');
    await waitForCount(page, '5 entries');
    await page.context().close();
  });

  it('lets new entries wait while a person reads further down, and shows them when the person asks', async () => {
    const page = await openTrail();
    await page.locator('[data-index="0"]').focus();
    await page.keyboard.press('End');
    await page.locator('[data-index="0"]').waitFor({ state: 'detached' });
    await act(olga, quiet, 'lock');
    await page.getByRole('button', { name: 'Show 1 new entry' }).waitFor();
    await act(olga, quiet, 'unlock');
    const button = page.getByRole('button', { name: 'Show 2 new entries' });
    await button.waitFor();
    expect(await inspectScreen(page, 'audit-trail-new')).toEqual([]);
    const before = Number(await page.getByRole('grid').getAttribute('aria-rowcount'));
    await button.click();
    await button.waitFor({ state: 'detached' });
    await page.locator('[data-index="0"]').filter({ hasText: 'workspace unlock' }).waitFor();
    expect(Number(await page.getByRole('grid').getAttribute('aria-rowcount'))).toBe(before + 2);
    await page.context().close();
  });

  it('lets new entries wait while the pointer is in the list', async () => {
    const page = await openTrail();
    const first = page.locator('[data-index="0"]');
    const readCells = () => first.getByRole('gridcell').allInnerTexts();
    const cells = await readCells();
    await first.hover();
    const top = (await first.boundingBox())?.y;
    await act(olga, quiet, 'lock');
    const button = page.getByRole('button', { name: 'Show 1 new entry' });
    await button.waitFor();
    expect(await readCells()).toEqual(cells);
    expect((await first.boundingBox())?.y).toBe(top);
    await button.click();
    await first.filter({ hasText: 'workspace lock' }).waitFor();
    await act(olga, quiet, 'unlock');
    // The focus is in the list now.
    await page.getByRole('button', { name: 'Show 1 new entry' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('shows the whole story of an entry in a panel with an address of its own', async () => {
    const page = await openTrail('?type=organization&action=create');
    await page.locator('[data-index="0"]').focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('dialog', { name: 'Entry of the audit trail' });
    await panel.getByText('cadastre.OrganizationCreated').waitFor();
    await panel.getByText('This server publishes to no Kafka.').waitFor();
    await panel.getByText('127.0.0.1', { exact: true }).waitFor();
    expect(await inspectScreen(page, 'audit-trail-entry')).toEqual([]);
    const { searchParams } = new URL(page.url());
    expect(searchParams.get('entry')).toMatch(/^[0-9a-f-]{36}$/);
    await panel.getByRole('region', { name: 'Other entries of the request' }).getByRole('link').first().click();
    await panel.getByRole('heading', { level: 2, name: 'organization create' }).waitFor({ state: 'hidden' });
    await page.reload();
    await panel.getByRole('region', { name: 'Event' }).waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    expect(new URL(page.url()).searchParams.has('entry')).toBe(false);
    await page.context().close();
  });

  it('is exported as a file, with the filters of the screen', async () => {
    const page = await openTrail('?action=lock&type=workspace&until=2999-01-01T00:00:00.000Z');
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export matching entries' }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe('acme-audit-trail.ndjson');
    const lines = (await readFile(await file.path(), 'utf8')).trimEnd().split('\n');
    expect(new Set(lines.map((line) => JSON.parse(line).resource.action))).toEqual(new Set(['lock']));
    await page.context().close();
  });

  it('is not in the navigation of a member, and does not exist for the member or a stranger', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    for (const user of [reader, id]) {
      const page = await openConsole(browser, server, { user, path: '/app/acme/audit-trail' });
      await page.getByRole('heading', { name: 'Only owners can read the audit trail' }).waitFor();
      await expectElements(page.getByRole('link', { name: 'Export' }), 0);
      await expectElements(page.getByRole('link', { name: 'Audit trail' }), 0);
      expect(await inspectScreen(page, 'audit-trail-no-access')).toEqual([]);
      await page.context().close();
    }
  });
});
