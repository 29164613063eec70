import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { expectDisabled, inspectScreen, openConsole, expectElements } from '../support/console.js';
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
let writer: string;
let reader: string;
let writers: string;
let team: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  const pool = await makeRemotePool(server, 'acme', 'executors');
  executor = server.as(await makeAgentToken(server, pool));
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  writers = await makeTeam(server, 'acme', 'writers');
  writer = (await makeMember(server, 'acme', 'wanda', [writers])).id;
  team = await makeTeam(server, 'acme', 'readers');
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

/** Creates a workspace with a configuration, that the writer may change and the reader may read. */
const makeUsableWorkspace = async (name: string, attributes: object = {}): Promise<string> => {
  const workspace = await makeWorkspace(server, 'acme', name, attributes);
  await grantWorkspaceAccess(server, team, workspace, 'read');
  await grantWorkspaceAccess(server, writers, workspace, 'write');
  await makeConfigurationVersion(server, workspace);
  return workspace;
};

/** Returns the id of the run. */
const makeWorkspaceWithRun = async (name: string, message: string, options: object = {}): Promise<string> =>
  makeRun(server, await makeUsableWorkspace(name), { message, ...options });

const plan = async (
  run: string,
  counts: object = { 'resource-additions': 2, 'resource-changes': 1 },
): Promise<void> => {
  const path = `/api/v2/runs/${run}/progress`;
  expectStatus(await executor.post(path, reportBody('planning')), 200);
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
    for (const text of ['2 to add', '1 to change', '0 to destroy', 'admin (API)', '0 s'])
      await row.getByText(text, { exact: true }).waitFor();
    expect(await inspectScreen(page, 'workspace-runs')).toEqual([]);
    await row.getByRole('link', { name: 'Add a subnet' }).click();
    await page.getByRole('region', { name: 'What happened' }).getByText('Planned').waitFor();
    await page.getByRole('region', { name: 'Plan', exact: true }).getByText('Finished, 0 s').waitFor();
    await page.getByRole('region', { name: 'Apply', exact: true }).getByText('Not started').waitFor();
    await page.getByRole('status').filter({ hasText: 'You can confirm or discard it.' }).waitFor();
    expect(await inspectScreen(page, 'run')).toEqual([]);
    await press(page, 'Confirm and apply');
    const dialog = page.getByRole('dialog', { name: 'Confirm and apply' });
    await dialog.getByText('2 to add').waitFor();
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
    await expectElements(page.getByRole('button', { name: 'Confirm and apply' }), 0);
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

  it('that destroys many resources needs the name of the workspace', async () => {
    const run = await makeWorkspaceWithRun('archive', 'Remove the old tapes');
    await plan(run, { 'resource-destructions': 120 });
    const page = await open(writer, `/workspaces/archive/runs/${run}`);
    await press(page, 'Confirm and apply');
    const dialog = page.getByRole('dialog', { name: 'Confirm and apply' });
    await dialog.getByText('120 resources will be destroyed').waitFor();
    const confirm = dialog.getByRole('button', { name: 'Apply and destroy 120' });
    await expectDisabled(confirm);
    expect(await inspectScreen(page, 'run-destroy')).toEqual([]);
    await dialog.getByLabel('Type archive to confirm').fill('archive');
    await confirm.click();
    await page.getByText('The run is confirmed.').waitFor();
    const few = await makeWorkspaceWithRun('drawer', 'Remove one tape');
    await plan(few, { 'resource-destructions': 10 });
    await page.goto(`${server.url}/app/acme/workspaces/drawer/runs/${few}`);
    await press(page, 'Confirm and apply');
    expect(await dialog.getByRole('button', { name: 'Apply and destroy 10' }).isEnabled()).toBe(true);
    await page.context().close();
  });

  it('that plans only shows its changes, and is commented', async () => {
    const run = await makeWorkspaceWithRun('preview', 'What would happen?', { 'plan-only': true });
    await plan(run, { 'resource-additions': 5 });
    const page = await open(writer, '/workspaces/preview/runs');
    const row = page.getByRole('row').filter({ hasText: 'What would happen?' });
    await row.getByText('5 to add').waitFor();
    await row.getByText('Planned', { exact: true }).waitFor();
    await row.getByRole('link').click();
    await page.getByText('It plans only, so nothing is applied.').waitFor();
    await press(page, 'Comment');
    const dialog = page.getByRole('dialog', { name: 'Comment on the run' });
    await dialog.getByLabel('Comment').fill('Looks good');
    expect(await inspectScreen(page, 'run-comment')).toEqual([]);
    await dialog.getByRole('button', { name: 'Add the comment' }).click();
    await page.getByRole('region', { name: 'What happened' }).getByText('Looks good').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('that waits for another one can start before it', async () => {
    const workspace = await makeUsableWorkspace('line');
    const ahead = await makeRun(server, workspace, { message: 'Nobody decides' });
    await plan(ahead);
    const run = await makeRun(server, workspace, { message: 'It is urgent' });
    const page = await open(writer, `/workspaces/line/runs/${run}`);
    await page.getByRole('status').filter({ hasText: 'Waits until the run ahead ends.' }).waitFor();
    await press(page, 'Start before others');
    const dialog = page.getByRole('dialog', { name: 'Start before others' });
    await dialog.getByText('The runs ahead of this one are discarded').waitFor();
    await dialog.getByRole('button', { name: 'Start before others' }).click();
    await page.getByText('The run starts.').waitFor();
    expect([await statusOf(ahead), await statusOf(run)]).toEqual(['discarded', 'plan_queued']);
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

describe('a new run', () => {
  const openDialog = async (page: TestPage, workspace: string) => {
    await press(page, 'New run');
    const dialog = page.getByRole('dialog', { name: `New run of ${workspace}` });
    await dialog.getByLabel('Message').waitFor();
    return dialog;
  };

  const readRun = async (page: TestPage): Promise<any> => {
    await page.getByText('The run is queued.').waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    return expectStatus(await server.get(`/api/v2/runs/${id}`), 200).body.data;
  };

  it('plans only, with the options that few runs need', async () => {
    const workspace = await makeUsableWorkspace('lab');
    const { body } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/configuration-versions`), 200);
    const page = await open(writer, '/workspaces/lab/runs');
    const dialog = await openDialog(page, 'lab');
    await dialog.getByLabel('Plan only').check();
    await dialog.getByLabel('Message').fill('Try the next version');
    await press(page, 'More options');
    await dialog.getByLabel('Only these resources').fill('x'.repeat(1_001));
    await dialog.getByRole('button', { name: 'Queue the run' }).click();
    await dialog.getByText(/too long/i).waitFor();
    expect(await dialog.getByLabel('Only these resources').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Only these resources').fill('module.a.net\n\n net.b ');
    await dialog.getByLabel('Replace these resources').fill('disk.c');
    await press(page, 'Add a variable');
    await dialog.getByLabel('Key of variable 1').fill('region');
    await dialog.getByLabel('Value of variable 1').fill('"eu"');
    await dialog.getByLabel('Terraform version').fill('no version');
    await dialog.getByRole('combobox', { name: 'Configuration' }).click();
    await page.getByRole('option').filter({ hasText: body.data[0].id }).click();
    await dialog.getByRole('button', { name: 'Queue the run' }).click();
    await dialog.getByText(/Terraform version must be a release such as/).waitFor();
    await dialog.getByLabel('Terraform version').fill('1.9.0');
    expect(await inspectScreen(page, 'new-run')).toEqual([]);
    await dialog.getByRole('button', { name: 'Queue the run' }).click();
    const { attributes, relationships } = await readRun(page);
    expect(attributes).toMatchObject({
      message: 'Try the next version',
      source: 'tfe-ui',
      'plan-only': true,
      'target-addrs': ['module.a.net', 'net.b'],
      'replace-addrs': ['disk.c'],
      'terraform-version': '1.9.0',
      variables: [{ key: 'region', value: '"eu"' }],
    });
    expect(relationships['configuration-version'].data.id).toBe(body.data[0].id);
    await page.getByText('region = "eu"').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('destroys after the name of the workspace is typed', async () => {
    await makeUsableWorkspace('sandbox');
    const page = await open(owner, '/workspaces/sandbox');
    const dialog = await openDialog(page, 'sandbox');
    await dialog.getByLabel('Destroy').check();
    const queue = dialog.getByRole('button', { name: 'Queue the destruction' });
    await expectDisabled(queue);
    await dialog.getByLabel('Type sandbox to confirm').fill('sandbox');
    expect(await inspectScreen(page, 'new-run-destroy')).toEqual([]);
    await queue.click();
    const { attributes } = await readRun(page);
    expect(attributes).toMatchObject({
      'is-destroy': true,
      'auto-apply': false,
      message: 'Queued manually in the console',
    });
    await page.getByRole('link', { name: 'Overview' }).click();
    const notice = page.getByRole('alert').filter({ hasText: 'Locked by run “Queued manually in the console”' });
    await notice.getByRole('link', { name: 'Open the run' }).click();
    await page.getByRole('region', { name: 'This run' }).getByText('Destroy', { exact: true }).waitFor();
    await page.context().close();
  });

  it('is opened from the palette, and says how a workspace gets a configuration', async () => {
    await makeWorkspace(server, 'acme', 'bare');
    const page = await open(owner, '/workspaces/bare/runs');
    await page.getByRole('button', { name: 'New run' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('New run');
    await page.getByRole('option', { name: 'New run' }).click();
    const dialog = page.getByRole('dialog', { name: 'New run of bare' });
    await dialog.getByText('This workspace has no configuration yet').waitFor();
    expect(await inspectScreen(page, 'new-run-without-configuration')).toEqual([]);
    const archive = { name: 'configuration.tar.gz', mimeType: 'application/gzip', buffer: gzipSync('main.tf') };
    const chosen = page.waitForEvent('filechooser');
    await press(page, 'Upload an archive (.tar.gz)');
    await (await chosen).setFiles(archive);
    await page.getByText('The configuration configuration.tar.gz is uploaded.').waitFor();
    await dialog.getByRole('button', { name: 'Queue the run' }).click();
    expect((await readRun(page)).attributes).toMatchObject({ 'plan-only': false, source: 'tfe-ui' });
    await page.context().close();
  });

  it('needs a permission, and an execution mode with executors', async () => {
    await makeUsableWorkspace('guarded', { 'allow-destroy-plan': false });
    await makeWorkspace(server, 'acme', 'laptop', { 'execution-mode': 'local' });
    const page = await open(reader, '/workspaces/guarded');
    const button = page.getByRole('button', { name: 'New run' });
    await button.focus();
    await page
      .getByRole('tooltip', { name: 'You need a team that may plan or apply runs of this workspace.' })
      .waitFor();
    await page.context().close();
    const other = await open(owner, '/workspaces/guarded');
    const dialog = await openDialog(other, 'guarded');
    await expectDisabled(dialog.getByLabel('Destroy'));
    await other.goto(`${server.url}/app/acme/workspaces/laptop/runs`);
    await other.getByText('Terraform plans and applies on your machine').waitFor();
    await expectElements(other.getByRole('button', { name: 'New run' }), 0);
    await other.context().close();
  });
});

describe('the runs of an organization', () => {
  it('are those that wait for the person, or for others', async () => {
    const run = await makeWorkspaceWithRun('waiting', 'Decide about me');
    await plan(run);
    const page = await open(reader, '/runs?waits=me');
    await page.getByRole('heading', { name: 'No run matches' }).waitFor();
    await page.getByRole('radiogroup', { name: 'Status' }).getByText('Wait for others').click();
    await page.getByRole('link', { name: 'Decide about me' }).click();
    await page.getByText('Waits for a confirmation. Owners of the organization').waitFor();
    await page.context().close();
    const other = await open(writer, '/runs?waits=me');
    await other.getByRole('link', { name: 'Decide about me' }).waitFor();
    expect([...page.pageErrors, ...other.pageErrors]).toEqual([]);
    await other.context().close();
  });

  it('are filtered by status and text, which the address keeps', async () => {
    const run = await makeWorkspaceWithRun('billing', 'Rotate the keys');
    await makeWorkspaceWithRun('ledger', 'Move the ledger');
    expectStatus(await server.post(`/api/v2/runs/${run}/actions/cancel`), 202);
    const page = await open(owner, '/runs');
    await page.getByRole('row').filter({ hasText: 'Rotate the keys' }).getByRole('link', { name: 'billing' }).waitFor();
    expect(await inspectScreen(page, 'runs')).toEqual([]);
    await page.setViewportSize({ width: 320, height: 700 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('radiogroup', { name: 'Status' }).getByText('Ended', { exact: true }).click();
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
    await expectElements(page.getByText('Hidden from readers'), 0);
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
    await page.getByRole('region', { name: 'the terraform block' }).waitFor();
    expect(await inspectScreen(page, 'workspace-runs-empty')).toEqual([]);
    await page.context().close();
  });
});
