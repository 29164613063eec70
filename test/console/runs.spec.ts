import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole } from '../support/console.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeRemotePool,
  makeRun,
  makeTeam,
  makeWorkspace,
  reportBody,
} from '../support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let executor: ApiTestClient;
let owner: string;
let reader: string;
let team: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  const pool = await makeRemotePool(server, 'acme', 'executors');
  executor = server.as(await makeAgentToken(server, pool));
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  team = await makeTeam(server, 'acme', 'readers');
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

/** Creates a workspace that the reader may read, with a run. Returns the id of the run. */
const makeWorkspaceWithRun = async (name: string, message: string): Promise<string> => {
  const workspace = await makeWorkspace(server, 'acme', name);
  await grantWorkspaceAccess(server, team, workspace, 'read');
  await makeConfigurationVersion(server, workspace);
  return makeRun(server, workspace, { message });
};

const plan = async (run: string): Promise<void> => {
  const path = `/api/v2/runs/${run}/progress`;
  expectStatus(await executor.post(path, reportBody('planning')), 200);
  const counts = { 'resource-additions': 2, 'resource-changes': 1 };
  expectStatus(await executor.post(path, reportBody('planned', counts)), 200);
};

const statusOf = async (run: string): Promise<string> =>
  expectStatus(await server.get(`/api/v2/runs/${run}`), 200).body.data.attributes.status as string;

const open = (user: string, path: string): Promise<TestPage> =>
  openConsole(browser, server, { user, path: `/app/acme${path}` });

const press = (page: TestPage, name: string) => page.getByRole('button', { name, exact: true }).click();

describe('a run', () => {
  it('is found in its workspace, and confirmed with a comment', async () => {
    const run = await makeWorkspaceWithRun('network', `Add a subnet ${'for the second region '.repeat(40)}`);
    await plan(run);
    const page = await open(owner, '/workspaces/network/runs');
    const row = page.getByRole('row').filter({ hasText: 'Add a subnet' });
    await row.getByText('2 to add, 1 to change, 0 to destroy').waitFor();
    expect(await inspectScreen(page, 'workspace-runs')).toEqual([]);
    await row.getByRole('link', { name: 'Add a subnet' }).click();
    await page.getByRole('region', { name: 'What happened' }).getByText('Planned').waitFor();
    expect(await inspectScreen(page, 'run')).toEqual([]);
    await press(page, 'Confirm and apply');
    const dialog = page.getByRole('dialog', { name: 'Confirm and apply' });
    await dialog.getByText('2 to add, 1 to change, 0 to destroy').waitFor();
    await dialog.getByLabel('Comment').fill('Checked with the network team');
    expect(await inspectScreen(page, 'run-confirm')).toEqual([]);
    await dialog.getByRole('button', { name: 'Confirm and apply' }).click();
    await page.getByText('The run is confirmed.').waitFor();
    await page.getByText('Checked with the network team').first().waitFor();
    expect(['confirmed', 'apply_queued']).toContain(await statusOf(run));
    await page.context().close();
  });

  it('is discarded, from an address with another workspace', async () => {
    const run = await makeWorkspaceWithRun('storage', 'Resize the disks');
    await plan(run);
    await makeWorkspace(server, 'acme', 'dns');
    const page = await open(owner, `/workspaces/dns/runs/${run}`);
    await page.waitForURL(`**/app/acme/workspaces/storage/runs/${run}`);
    await press(page, 'Discard');
    await page.getByRole('dialog').getByText('Workspace: storage').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await page.getByText('The run has ended.').waitFor();
    expect(await statusOf(run)).toBe('discarded');
    expect(await page.getByRole('button', { name: 'Confirm and apply' }).count()).toBe(0);
    await page.context().close();
  });

  it('is canceled, from the address that terraform prints', async () => {
    const run = await makeWorkspaceWithRun('cache', 'Another cache');
    const page = await open(owner, `/cache/runs/${run}`);
    await press(page, 'Cancel the run');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
    await page.getByText('The run has ended.').waitFor();
    expect(await statusOf(run)).toBe('canceled');
    expect(page.url()).toBe(`${server.url}/app/acme/workspaces/cache/runs/${run}`);
    await page.context().close();
  });

  it('shows a new status without a reload', async () => {
    const run = await makeWorkspaceWithRun('queue', 'Add a queue');
    const page = await open(owner, `/workspaces/queue/runs/${run}`);
    await page.getByRole('button', { name: 'Cancel the run' }).waitFor();
    await plan(run);
    await page.getByRole('button', { name: 'Confirm and apply' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('cannot be confirmed by a member who may only read, and the button gives the reason', async () => {
    const run = await makeWorkspaceWithRun('mail', 'Add a relay');
    await plan(run);
    const page = await open(reader, `/workspaces/mail/runs/${run}`);
    const button = page.getByRole('button', { name: 'Confirm and apply' });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await button.focus();
    await page.getByRole('tooltip', { name: 'You need a team that may apply runs of this workspace.' }).waitFor();
    expect(await inspectScreen(page, 'run-reader')).toEqual([]);
    await page.context().close();
  });

  it('is not shown to a person without access', async () => {
    const run = await makeWorkspaceWithRun('secret', 'Nobody sees this');
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const page = await open(id, `/workspaces/secret/runs/${run}`);
    await page.getByRole('heading', { name: 'This workspace does not exist, or you have no access' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the runs of an organization', () => {
  it('are filtered by status and text, which the address keeps', async () => {
    const run = await makeWorkspaceWithRun('billing', 'Rotate the keys');
    await makeWorkspaceWithRun('ledger', 'Move the ledger');
    expectStatus(await server.post(`/api/v2/runs/${run}/actions/cancel`), 202);
    const page = await open(owner, '/runs');
    await page.getByRole('row').filter({ hasText: 'Rotate the keys' }).getByRole('link', { name: 'billing' }).waitFor();
    expect(await inspectScreen(page, 'runs')).toEqual([]);
    await page.getByText('Ended', { exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'Move the ledger' }).waitFor({ state: 'detached' });
    await page.getByLabel('Search runs').fill('Rotate');
    await page.waitForURL('**/runs?group=final&q=Rotate');
    await page.getByRole('row').filter({ hasText: 'Rotate the keys' }).waitFor();
    await page.getByLabel('Search runs').fill('no such run');
    await page.getByRole('heading', { name: 'No run matches' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    // The link of the navigation has no filters, and the field follows it.
    await page.getByRole('link', { name: 'Runs', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'Rotate' }).first().waitFor();
    expect(await page.getByLabel('Search runs').inputValue()).toBe('');
    await page.context().close();
  });

  it('are those of the workspaces that a member may read', async () => {
    await makeWorkspaceWithRun('shared', 'Visible to readers');
    const hidden = await makeWorkspace(server, 'acme', 'hidden');
    await makeConfigurationVersion(server, hidden);
    await makeRun(server, hidden, { message: 'Hidden from readers' });
    const page = await open(reader, '/runs');
    await page.getByRole('row').filter({ hasText: 'Visible to readers' }).waitFor();
    expect(await page.getByText('Hidden from readers').count()).toBe(0);
    await page.context().close();
  });

  it('are explained where there is none', async () => {
    const { ownersTeam } = await makeOrganization(server, 'empty');
    const { id } = await makeMember(server, 'empty', 'emil', [ownersTeam]);
    await makeWorkspace(server, 'empty', 'first');
    const page = await openConsole(browser, server, { user: id, path: '/app/empty/runs' });
    await page.getByRole('heading', { name: 'There is no run yet' }).waitFor();
    expect(await inspectScreen(page, 'runs-empty')).toEqual([]);
    await page.goto(`${server.url}/app/empty/workspaces/first/runs`);
    await page.getByRole('region', { name: 'the command' }).waitFor();
    expect(await inspectScreen(page, 'workspace-runs-empty')).toEqual([]);
    await page.context().close();
  });
});
