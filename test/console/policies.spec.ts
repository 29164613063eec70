import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { chooseRowAction, expectDisabled, expectElements, inspectScreen, openConsole } from '../support/console.js';
import { executorRequests } from '../support/executors.js';
import { denyResource, makePolicy, makePolicySet } from '../support/policies.js';
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
let agents: ApiTestClient;
let pool: string;
let owner: string;
let manager: string;

const { claim, jobOf } = executorRequests(() => ({ agents, pool }));

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  const access = { 'manage-policies': true, 'read-workspaces': true };
  const guards = await makeTeam(server, 'acme', 'guards', { 'organization-access': access });
  manager = (await makeMember(server, 'acme', 'greta', [guards])).id;
  pool = await makeRemotePool(server, 'acme', 'edge');
  agents = server.as(await makeAgentToken(server, pool));
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = (path: string, user = owner): Promise<TestPage> =>
  openConsole(browser, server, { user, path: `/app/acme${path}` });

const read = async (path: string) => expectStatus(await server.get(`/api/v2/${path}`), 200).body.data;

const findNamed = async (path: string, name: string) =>
  (await read(path)).find(({ attributes }: any) => attributes.name === name);

const textOf = async (policy: string): Promise<string> => {
  const response = await fetch(`${server.url}/api/v2/policies/${policy}/download`, {
    headers: { authorization: `Bearer ${server.adminToken}` },
  });
  return response.text();
};

describe('the policies of an organization', () => {
  it('are created with their text, changed by a file and deleted', async () => {
    const page = await open('/settings/policies', manager);
    await page.getByText('There is no policy yet').waitFor();
    await page.getByRole('button', { name: 'New policy' }).click();
    const dialog = page.getByRole('dialog', { name: 'New policy' });
    await page.locator('[data-autofocus]:focus').waitFor();
    await dialog.getByLabel('Name').fill('with space');
    await dialog.getByLabel('Query').fill('data.rules.deny');
    await dialog.getByRole('radio', { name: 'Mandatory' }).check();
    await dialog.getByLabel('Text in Rego').fill(denyResource('first'));
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    await dialog.getByLabel('Name').fill('buckets');
    expect(await inspectScreen(page, 'policy-new')).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('row').filter({ hasText: 'buckets' });
    await row.getByText('Mandatory').waitFor();
    const { id } = await findNamed('organizations/acme/policies', 'buckets');
    expect(await textOf(id)).toBe(denyResource('first'));
    expect(await inspectScreen(page, 'policies')).toEqual([]);

    await page.getByRole('button', { name: 'Change buckets' }).click();
    const change = page.getByRole('dialog', { name: 'Change buckets' });
    const text = change.getByLabel('Text in Rego');
    await expectElements(change.locator('textarea:enabled'), 1);
    expect(await text.inputValue()).toBe(denyResource('first'));
    await expectDisabled(change.getByRole('button', { name: 'Save' }));
    const file = { name: 'buckets.rego', mimeType: 'text/plain', buffer: Buffer.from(denyResource('second')) };
    await change.locator('input[type="file"]').setInputFiles(file);
    await change.getByRole('radio', { name: 'Advisory' }).check();
    await change.getByRole('button', { name: 'Save' }).click();
    await change.waitFor({ state: 'detached' });
    await row.getByText('Advisory').waitFor();
    expect(await textOf(id)).toBe(denyResource('second'));

    await chooseRowAction(page, 'buckets', 'Delete');
    const deletion = page.getByRole('dialog', { name: 'Delete buckets' });
    await deletion.getByText('It is in no policy set.').waitFor();
    await deletion.getByLabel('Type buckets to confirm').fill('buckets');
    expect(await inspectScreen(page, 'policy-delete')).toEqual([]);
    await deletion.getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await findNamed('organizations/acme/policies', 'buckets')).toBeUndefined();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are not created twice if only the upload of their text is refused', async () => {
    const page = await open('/settings/policies');
    await page.getByRole('button', { name: 'New policy' }).click();
    const dialog = page.getByRole('dialog', { name: 'New policy' });
    await page.locator('[data-autofocus]:focus').waitFor();
    await dialog.getByLabel('Name').fill('once');
    await page.route('**/upload', (route) => route.abort(), { times: 1 });
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { id } = await findNamed('organizations/acme/policies', 'once');
    expect(await textOf(id)).toContain('package terraform.buckets');
    await page.context().close();
  });
});

describe('the policy sets of an organization', () => {
  it('get policies and a scope, and are shown in the settings of their workspaces', async () => {
    const policy = await makePolicy(server, 'acme', 'ports');
    const workspace = await makeWorkspace(server, 'acme', 'chosen');
    const page = await open('/settings/policy-sets', manager);
    await page.getByRole('button', { name: 'New policy set' }).click();
    const dialog = page.getByRole('dialog', { name: 'New policy set' });
    await page.locator('[data-autofocus]:focus').waitFor();
    await dialog.getByLabel('Name').fill('network-rules');
    await dialog.getByRole('combobox', { name: 'Policies' }).click();
    await page.getByRole('option', { name: 'ports' }).click();
    await dialog.getByRole('radio', { name: 'All workspaces' }).check();
    await expectElements(dialog.getByRole('combobox', { name: 'Workspaces', exact: true }), 0);
    await dialog.getByLabel('Overridable').check();
    await dialog.getByLabel('Version of OPA').fill('0.0.1');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    await dialog.getByLabel('Version of OPA').fill('latest');
    expect(await inspectScreen(page, 'policy-set-new')).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.waitFor({ state: 'detached' });
    const row = page.getByRole('row').filter({ hasText: 'network-rules' });
    await row.getByText('All workspaces').waitFor();
    await row.getByText('1 policy').waitFor();
    expect(await inspectScreen(page, 'policy-sets')).toEqual([]);

    const settings = await open('/workspaces/chosen/settings');
    const card = settings.getByRole('region', { name: 'Policy sets', exact: true });
    await card.getByRole('row').filter({ hasText: 'network-rules' }).waitFor();
    await card.scrollIntoViewIfNeeded();
    expect(await inspectScreen(settings, 'workspace-policy-sets')).toEqual([]);

    await page.getByRole('button', { name: 'Change network-rules' }).click();
    const change = page.getByRole('dialog', { name: 'Change network-rules' });
    await expectDisabled(change.getByRole('button', { name: 'Save' }));
    await change.getByRole('combobox', { name: 'Except workspaces' }).fill('chosen');
    await page.getByRole('option', { name: 'chosen' }).click();
    await change.getByLabel('Description').fill('Of the network team');
    await change.getByRole('button', { name: 'Save' }).click();
    await row.getByText('All workspaces, except 1 workspace').waitFor();
    const { id, relationships } = await findNamed('organizations/acme/policy-sets', 'network-rules');
    expect(relationships).toMatchObject({
      policies: { data: [{ id: policy }] },
      'workspace-exclusions': { data: [{ id: workspace }] },
    });
    await card.getByText('No policy set applies to this workspace.').waitFor();

    await chooseRowAction(page, 'network-rules', 'Delete');
    const deletion = page.getByRole('dialog', { name: 'Delete network-rules' });
    await deletion.getByLabel('Type network-rules to confirm').fill('network-rules');
    await deletion.getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    expectStatus(await server.get(`/api/v2/policy-sets/${id}`), 404);
    expect([...page.pageErrors, ...settings.pageErrors]).toEqual([]);
    await page.context().close();
    await settings.context().close();
  });

  it('are shown to people who may override policies, who cannot change them', async () => {
    await makePolicySet(server, 'acme', 'shown');
    const access = { 'manage-policy-overrides': true };
    const team = await makeTeam(server, 'acme', 'overriders', { 'organization-access': access });
    const reader = (await makeMember(server, 'acme', 'rita', [team])).id;
    const page = await open('/settings/policy-sets', reader);
    await page.getByRole('row').filter({ hasText: 'shown' }).waitFor();
    expect(await page.getByRole('button', { name: 'New policy set' }).getAttribute('aria-disabled')).toBe('true');
    expect(await page.getByRole('button', { name: 'Change shown' }).getAttribute('aria-disabled')).toBe('true');
    await page.context().close();
  });

  it('are hidden from other members, also in the settings of a workspace', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'read-only');
    const team = await makeTeam(server, 'acme', 'readers');
    await grantWorkspaceAccess(server, team, workspace, 'read');
    const member = (await makeMember(server, 'acme', 'mia', [team])).id;
    const page = await open('/workspaces/read-only/settings', member);
    const card = page.getByRole('region', { name: 'Policy sets', exact: true });
    await card.getByText(/^Owners, and teams that may manage or override policies/).waitFor();
    await page.goto(`${server.url}/app/acme/settings/general`);
    await page.getByRole('navigation', { name: 'Settings' }).getByText('Run tasks').waitFor();
    await expectElements(page.getByRole('navigation', { name: 'Settings' }).getByText('Policies'), 0);
    await page.context().close();
  });
});

/** Creates a run whose plan has failed a mandatory policy of an overridable set. */
const makeFailedRun = async (name: string) => {
  const workspace = await makeWorkspace(server, 'acme', name);
  await makeConfigurationVersion(server, workspace);
  const mandatory = await makePolicy(server, 'acme', `${name}-ports`, { 'enforcement-level': 'mandatory' });
  const advisory = await makePolicy(server, 'acme', `${name}-names`, { 'enforcement-level': 'advisory' });
  const members = { policies: [mandatory, advisory], workspaces: [workspace] };
  await makePolicySet(server, 'acme', `${name}-rules`, { overridable: true, description: 'Of the team' }, members);
  const run = await makeRun(server, workspace);
  expect((await claim()).id).toBe(run);
  await jobOf(run);
  const result = { 'tool-version': '1.19.1', printed: '' };
  const results = [
    { ...result, policy: mandatory, status: 'failed', message: '["Port 22 is open"]', printed: 'checked 3 rules' },
    { ...result, policy: advisory, status: 'passed', message: '' },
  ];
  const body = reportBody('planned', { fence: 1, 'has-changes': true, 'policy-results': results });
  expectStatus(await agents.post(`/api/v2/runs/${run}/progress`, body), 200);
  return { run, workspace };
};

const isOverridden = async (run: string): Promise<boolean> =>
  (await read(`runs/${run}`)).attributes.status !== 'post_plan_awaiting_decision';

describe('the policies of a run', () => {
  it('are shown with what they have printed, and overridden with a comment', async () => {
    const { run } = await makeFailedRun('fails');
    const page = await open(`/workspaces/fails/runs/${run}`);
    const card = page.getByRole('region', { name: 'Policies', exact: true });
    await card.getByText('fails-rules', { exact: true }).waitFor();
    await card.getByText(/Port 22 is open/).waitFor();
    await card.getByText(/checked 3 rules/).waitFor();
    await expectElements(card.getByText('Failed', { exact: true }), 2);
    await expectElements(card.getByText('Passed', { exact: true }), 1);
    await card.getByText('Mandatory').waitFor();
    await page.getByRole('status').filter({ hasText: 'Waits until somebody overrides' }).waitFor();
    await expectElements(page.getByRole('region', { name: /^Run tasks/ }), 0);
    expect(await inspectScreen(page, 'run-policies')).toEqual([]);
    await card.getByRole('button', { name: 'Override' }).click();
    const dialog = page.getByRole('dialog', { name: 'Override the failed policies' });
    await dialog.getByLabel('Comment').fill('Agreed until Friday');
    expect(await inspectScreen(page, 'run-policy-override')).toEqual([]);
    await dialog.getByRole('button', { name: 'Override' }).click();
    await dialog.waitFor({ state: 'detached' });
    await card.getByRole('status').getByText('Overridden').waitFor();
    await expectElements(card.getByRole('button', { name: 'Override' }), 0);
    await page.getByText('Agreed until Friday').waitFor();
    expect(await isOverridden(run)).toBe(true);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('cannot be overridden by readers of the workspace', async () => {
    const { run, workspace } = await makeFailedRun('watched');
    const team = await makeTeam(server, 'acme', 'watchers');
    await grantWorkspaceAccess(server, team, workspace, 'read');
    const reader = (await makeMember(server, 'acme', 'wanda', [team])).id;
    const page = await open(`/workspaces/watched/runs/${run}`, reader);
    const card = page.getByRole('region', { name: 'Policies', exact: true });
    await card.getByText(/^Admins of the workspace, and people who may override policies/).waitFor();
    await expectElements(card.getByText(/Port 22 is open/), 0);
    expect(await card.getByRole('button', { name: 'Override' }).getAttribute('aria-disabled')).toBe('true');
    expect(await isOverridden(run)).toBe(false);
    await page.context().close();
  });
});
