import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { createJobRecorder, readLogEnd, recordVerification } from '#operations/site';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, expectElements } from '../support/console.js';
import { waitUntil } from '../support/product.js';
import { expectStatus, makeMember, makeOrganization } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let admin: string;
let owner: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  const { database, runtime } = server;
  const record = createJobRecorder(database, runtime.clock);
  await record('abandoned_uploads', true);
  await record('ended_sessions', false);
  await recordVerification(database, runtime.clock, { end: await readLogEnd(database), isClean: true });
  admin = (await ensureUser(server.store, server.runtime.ids, 'root', true)).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (user: string, path: string, title: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path });
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  return page;
};

describe('the site', () => {
  it('shows versions, followers, processes and settings to a site administrator', async () => {
    const page = await open(admin, '/app/~site', 'Site');
    await page.getByRole('row').filter({ hasText: 'audit_trail' }).getByText('Runs').waitFor();
    const storage = page.getByRole('region', { name: 'Version and storage' });
    await storage
      .getByText(/^\d+\.\d+\.\d+/)
      .first()
      .waitFor();
    await page.getByRole('region', { name: 'Settings in force' }).getByText('CADASTRE_EDITION').waitFor();
    await page.getByRole('table', { name: 'Processes' }).getByRole('row').nth(1).waitFor();
    const jobs = page.getByRole('table', { name: 'Scheduled jobs' });
    const job = jobs.getByRole('row').filter({ hasText: 'abandoned_uploads' });
    await job.getByText('Succeeded').waitFor();
    await job.getByText('in 1 hour').or(job.getByText('in 60 minutes')).waitFor();
    await jobs.getByRole('row').filter({ hasText: 'ended_sessions' }).getByText('Failed').waitFor();
    await jobs.getByRole('row').filter({ hasText: 'view_versions' }).getByText('never').waitFor();
    const verification = page.getByRole('region', { name: 'Verify' });
    await verification.getByText('Everything matches the log').waitFor();
    await verification.getByText('Up to position').waitFor();
    expect(await inspectScreen(page, 'site')).toEqual([]);
    await page.context().close();
  });

  it('is reached by the menu of the account and by the palette', async () => {
    const page = await open(admin, '/app', 'Organizations');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Site' }).click();
    await page.getByRole('heading', { level: 1, name: 'Site' }).waitFor();
    expect(page.url()).toBe(`${server.url}/app/~site`);
    await page.goto(`${server.url}/app`);
    await page.getByRole('heading', { level: 1, name: 'Organizations' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search and commands' }).fill('site');
    await page.getByRole('option', { name: 'Site', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Site' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('leads to the audit trail of the site, with its filters, its entries and its export', async () => {
    const page = await open(admin, '/app/~site', 'Site');
    await page.getByRole('link', { name: 'Audit trail' }).click();
    await page.getByRole('heading', { level: 1, name: 'Audit trail' }).waitFor();
    const row = page.getByRole('row').filter({ hasText: 'organization created' });
    await row.first().waitFor();
    await page.goto(`${server.url}/app/~site/audit-trail?type=organization`);
    await page.getByRole('status').filter({ hasText: '1 entry' }).waitFor();
    const link = page.getByRole('link', { name: /^Export matching entries/ });
    expect(await link.getAttribute('href')).toBe(
      '/api/v2/admin/audit-trail?format=ndjson&filter%5Bresource-type%5D=organization',
    );
    expect(await inspectScreen(page, 'site-audit-trail')).toEqual([]);
    await row.click();
    const panel = page.getByRole('dialog', { name: 'Entry of the audit trail' });
    await panel.getByText('cadastre.OrganizationCreated').first().waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('does not exist for an owner of an organization, and for a person without one', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    for (const user of [owner, id]) {
      const page = await open(user, '/app/~site', 'Site');
      await page.getByRole('heading', { name: 'This screen is for site administrators' }).waitFor();
      await page.getByRole('button', { name: 'Account' }).click();
      await page.getByRole('menuitem', { name: 'Your account' }).waitFor();
      await expectElements(page.getByRole('menuitem', { name: 'Site' }), 0);
      await page.keyboard.press('Escape');
      expect(await inspectScreen(page, 'site-no-access')).toEqual([]);
      await page.goto(`${server.url}/app/~site/audit-trail`);
      await page.getByRole('heading', { name: 'This screen is for site administrators' }).waitFor();
      await page.context().close();
    }
  });
});

describe('the settings of the site', () => {
  it('change the times of runs and the rate limit, and show what the configuration decides', async () => {
    const page = await open(admin, '/app/~site/settings', 'Settings');
    const runs = page.getByRole('form', { name: 'Runs' });
    await page.getByText('Only administrators create organizations').waitFor();
    expect(await inspectScreen(page, 'site-settings')).toEqual([]);
    await runs.getByLabel('Longest plan').fill('2 hours');
    await runs.getByRole('button', { name: 'Save' }).click();
    await runs.getByText('must be a time from 1m to 24h').waitFor();
    await runs.getByLabel('Longest plan').fill('90m');
    await runs.getByRole('switch', { name: 'Serve organizations in turn' }).click();
    await runs.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const requests = page.getByRole('form', { name: 'Requests' });
    await requests.getByLabel('Requests per second').fill('5000');
    await requests.getByRole('button', { name: 'Save' }).click();
    const read = async () => expectStatus(await server.get('/api/v2/admin/general-settings'), 200).body.data.attributes;
    await waitUntil(async () => (await read())['api-rate-limit'] === 5_000, 'the rate limit is saved');
    expect(await read()).toMatchObject({
      'plan-timeout': '90m',
      'fair-run-queuing-enabled': false,
      'api-rate-limit': 5_000,
      'api-rate-limiting-enabled': false,
    });
    await page.context().close();
  });

  it('are for site administrators only', async () => {
    const page = await open(owner, '/app/~site/settings', 'Settings');
    await page.getByRole('heading', { name: 'This screen is for site administrators' }).waitFor();
    await expectElements(page.getByRole('form'), 0);
    await page.context().close();
  });
});
