import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { chooseRowAction, expectDisabled, inspectScreen, openConsole, expectElements } from '../support/console.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeRun,
  makeTeam,
  makeWorkspace,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import {
  makeRunTask,
  makeWorkspaceTask,
  openTestTaskService,
  sendTaskRequests,
  signTaskBody,
  taskReportOf,
} from '../support/task-service.js';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let member: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([
    startTestServer({ forBrowsers: true, followers: true, env: { CADASTRE_OUTBOUND_PRIVATE_HOSTS: '127.0.0.1' } }),
    openBrowser(),
  ]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  member = (await makeMember(server, 'acme', 'mia')).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = (path: string, user = owner): Promise<TestPage> =>
  openConsole(browser, server, { user, path: `/app/acme${path}` });

/** Sends the requests that are due, and reports the result of the run. */
const report = async (run: string, body: object): Promise<void> => {
  const request = (await openTestTaskService()).received.findLast(({ payload }) => payload.run_id === run);
  const { access_token: token, task_result_callback_url: url } = request?.payload ?? {};
  expectStatus(await server.as(token as string).patch(new URL(url as string).pathname, body), 200);
};

const OUTCOME = {
  type: 'task-result-outcomes',
  attributes: {
    'outcome-id': 'PORT-22',
    description: 'Port 22 is open',
    body: '# Port 22\n<img src=x onerror="throw new Error()">',
    url: 'https://scanner.example.com/findings/22',
    tags: { Severity: [{ label: 'High', level: 'error' }] },
  },
};

/** Creates a run that waits for a scanner before its plan. */
const makeConsultingRun = async (): Promise<string> => {
  const workspace = await makeWorkspace(server, 'acme', 'network');
  await makeConfigurationVersion(server, workspace);
  const task = await makeRunTask(server, 'acme', 'scanner');
  await makeWorkspaceTask(server, workspace, task, { stages: ['pre_plan', 'post_apply'] });
  const run = await makeRun(server, workspace, { message: 'Add a subnet' });
  await sendTaskRequests(server);
  return run;
};

describe('the run tasks of a run', () => {
  it('are shown with their results, as the services report them', async () => {
    const run = await makeConsultingRun();
    const page = await open(`/workspaces/network/runs/${run}`);
    const stage = page.getByRole('region', { name: 'Run tasks before the plan' });
    await stage.getByText('scanner', { exact: true }).waitFor();
    await stage.getByText('Mandatory').waitFor();
    await page.getByRole('status').filter({ hasText: 'Waits for the results of its run tasks.' }).waitFor();
    await page.getByRole('region', { name: 'Run tasks after the apply' }).getByRole('status').waitFor();
    await expectElements(page.getByRole('region', { name: /^Run tasks/ }), 2);
    await report(run, taskReportOf('running', { message: 'Scans the ports' }));
    await stage.getByText('Scans the ports').waitFor();
    const url = 'https://scanner.example.com/reports/1';
    await report(run, taskReportOf('failed', { message: 'A port is open', url }, [OUTCOME]));
    await stage.getByRole('status').getByText('Failed').waitFor();
    await stage.getByText('A port is open').waitFor();
    await page.getByRole('status').filter({ hasText: 'It failed.' }).waitFor();
    const link = stage.getByRole('link', { name: 'Report of scanner' });
    expect(await link.getAttribute('href')).toBe(url);
    expect(await link.getAttribute('rel')).toContain('noopener');
    await page.getByRole('region', { name: 'Run tasks after the apply' }).getByText('Not reached').first().waitFor();
    await stage.getByText('1 outcome of scanner').click();
    await stage.getByText('Severity: High').waitFor();
    await stage.getByText('Port 22 is open').waitFor();
    await stage.getByText('Text of PORT-22').click();
    // Markdown of a service stays text.
    await stage.getByText('<img src=x').waitFor();
    expect(await inspectScreen(page, 'run-tasks')).toEqual([]);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

const KEY = 'key-of-the-prices';

const readTasks = async () => expectStatus(await server.get('/api/v2/organizations/acme/tasks'), 200).body.data;
const findTask = async (name: string) =>
  (await readTasks()).find(({ attributes }: any) => attributes.name === name)?.attributes;

/** Creates the run task `prices`, after the server has refused its first address. */
const createTask = async (page: TestPage): Promise<void> => {
  const service = await openTestTaskService();
  await page.getByRole('button', { name: 'New run task' }).click();
  const dialog = page.getByRole('dialog', { name: 'New run task' });
  await dialog.getByLabel('Name').fill('prices');
  const url = dialog.getByRole('textbox', { name: 'URL' });
  await url.fill('http://10.0.0.1/task');
  await dialog.getByLabel('HMAC key', { exact: true }).fill(KEY);
  await dialog.getByLabel('All workspaces').check();
  await dialog.getByLabel('Before the apply').check();
  await dialog.getByRole('radio', { name: 'Mandatory' }).check();
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText(/Url could not be verified: /).waitFor();
  expect(await url.getAttribute('aria-invalid')).toBe('true');
  expect(await inspectScreen(page, 'run-task-new')).toEqual([]);
  await url.fill(service.url);
  await url.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  const { body, headers } = service.received.at(-1) ?? {};
  expect(headers?.['x-tfc-task-signature']).toBe(signTaskBody(body ?? '', KEY));
};

describe('the run tasks of an organization', () => {
  it('are created after a test of their service, changed and deleted', async () => {
    const page = await open('/settings/run-tasks');
    await createTask(page);
    const row = page.getByRole('row').filter({ hasText: 'prices' });
    await row.getByText('After the plan, before the apply: mandatory').waitFor();
    expect(await page.content()).not.toContain(KEY);
    expect(await inspectScreen(page, 'run-tasks-of-organization')).toEqual([]);
    await page.getByRole('button', { name: 'Change prices' }).click();
    const change = page.getByRole('dialog', { name: 'Change prices' });
    expect(await change.getByLabel('HMAC key', { exact: true }).inputValue()).toBe('');
    await expectDisabled(change.getByRole('button', { name: 'Save' }));
    await change.getByLabel('Enabled').uncheck();
    await change.getByRole('button', { name: 'Save' }).click();
    await row.getByText('Disabled').waitFor();
    expect(await findTask('prices')).toMatchObject({
      enabled: false,
      'global-configuration': {
        enabled: true,
        stages: ['post_plan', 'pre_apply'],
        'enforcement-level': 'mandatory',
      },
    });
    await chooseRowAction(page, 'prices', 'Delete');
    const dialog = page.getByRole('dialog', { name: 'Delete prices' });
    await dialog.getByLabel('Type prices to confirm').fill('prices');
    expect(await inspectScreen(page, 'run-task-delete')).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await findTask('prices')).toBeUndefined();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are shown to members, who cannot change them', async () => {
    await makeRunTask(server, 'acme', 'shown');
    const page = await open('/settings/run-tasks', member);
    await page.getByRole('row').filter({ hasText: 'shown' }).waitFor();
    expect(await page.getByRole('button', { name: 'New run task' }).getAttribute('aria-disabled')).toBe('true');
    expect(await page.getByRole('button', { name: 'Change shown' }).getAttribute('aria-disabled')).toBe('true');
    await page.context().close();
  });
});

describe('the run tasks of a workspace', () => {
  const cardOf = (page: TestPage) => page.getByRole('region', { name: 'Run tasks', exact: true });

  const readAttached = async (workspace: string) =>
    expectStatus(await server.get(`/api/v2/workspaces/${workspace}/tasks`), 200).body.data.map(
      ({ attributes }: any) => attributes,
    );

  it('are attached, changed and detached in its settings, beside those of all workspaces', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'attached');
    await makeRunTask(server, 'acme', 'licences');
    const global = { enabled: true, stages: ['pre_plan'], 'enforcement-level': 'mandatory' };
    const everywhere = await makeRunTask(server, 'acme', 'everywhere', { 'global-configuration': global });
    const page = await open('/workspaces/attached/settings');
    const card = cardOf(page);
    const row = card.getByRole('row').filter({ hasText: 'licences' });
    await card.getByText('Before the plan: mandatory, in all workspaces').waitFor();
    await expectElements(card.getByRole('button', { name: 'Change everywhere' }), 0);

    await card.getByRole('button', { name: 'Attach a run task' }).click();
    const attach = page.getByRole('dialog', { name: 'Attach a run task' });
    await page.locator('[data-autofocus]:focus').waitFor();
    await expectDisabled(attach.getByRole('button', { name: 'Attach' }));
    await attach.getByRole('combobox', { name: 'Run task' }).click();
    await page.getByRole('option', { name: 'licences' }).click();
    await attach.getByLabel('After the plan').uncheck();
    await attach.getByText('Choose at least one stage.').waitFor();
    await expectDisabled(attach.getByRole('button', { name: 'Attach' }));
    await attach.getByLabel('Before the apply').check();
    expect(await inspectScreen(page, 'workspace-task-attach')).toEqual([]);
    await attach.getByRole('button', { name: 'Attach' }).click();
    await row.getByText('Before the apply: advisory').waitFor();
    await attach.waitFor({ state: 'detached' });
    expect(await readAttached(workspace)).toMatchObject([{ stages: ['pre_apply'], 'enforcement-level': 'advisory' }]);

    await card.getByRole('button', { name: 'Change licences' }).click();
    const change = page.getByRole('dialog', { name: 'Change licences' });
    await expectDisabled(change.getByRole('button', { name: 'Save' }));
    await change.getByRole('radio', { name: 'Mandatory' }).check();
    await change.getByRole('button', { name: 'Save' }).click();
    await row.getByText('Before the apply: mandatory').waitFor();
    await card.scrollIntoViewIfNeeded();
    expect(await inspectScreen(page, 'workspace-run-tasks')).toEqual([]);
    expect(await readAttached(workspace)).toMatchObject([{ stages: ['pre_apply'], 'enforcement-level': 'mandatory' }]);

    await chooseRowAction(page, 'licences', 'Detach');
    const detach = page.getByRole('dialog', { name: 'Detach licences' });
    await detach.getByText('Runs that exist still do.').waitFor();
    await detach.getByRole('button', { name: 'Detach' }).click();
    await row.waitFor({ state: 'detached' });
    expect(await readAttached(workspace)).toEqual([]);
    expectStatus(await server.delete(`/api/v2/tasks/${everywhere}`), 204);
    await card.getByText('The runs of this workspace consult no service.').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are shown to readers of the workspace, who cannot change them', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'read-only');
    await makeWorkspaceTask(server, workspace, await makeRunTask(server, 'acme', 'readable'));
    const team = await makeTeam(server, 'acme', 'readers');
    await grantWorkspaceAccess(server, team, workspace, 'read');
    const reader = (await makeMember(server, 'acme', 'rita', [team])).id;
    const page = await open('/workspaces/read-only/settings', reader);
    await cardOf(page).getByRole('row').filter({ hasText: 'readable' }).waitFor();
    const attach = cardOf(page).getByRole('button', { name: 'Attach a run task' });
    expect(await attach.getAttribute('aria-disabled')).toBe('true');
    await expectElements(cardOf(page).getByRole('button', { name: 'Change readable' }), 0);
    await page.context().close();
  });
});
