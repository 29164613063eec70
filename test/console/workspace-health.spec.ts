import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deriveId } from '#runs/runs';
import { assessmentRequests, setViewVersion, startAssessment } from '../support/assessments.js';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { expectElements, inspectScreen, openConsole } from '../support/console.js';
import { waitForFollowers } from '../support/event-log.js';
import { makePlannedChange, makeProviderSchemas } from '../support/plan-documents.js';
import { runRequests } from '../support/runs.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeAgentToken,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeRemotePool,
  makeTeam,
  makeWorkspace,
  reportBody,
  resource,
} from '../support/seeds.js';
import { startTestServer, type ApiTestClient, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let executor: ApiTestClient;
let owner: string;
let reader: string;
let readers: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  await setViewVersion(server, 1);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  executor = server.as(await makeAgentToken(server, await makeRemotePool(server, 'acme', 'executors')));
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  readers = await makeTeam(server, 'acme', 'readers');
  reader = (await makeMember(server, 'acme', 'rita', [readers])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const site = () => ({ server, agents: executor });
const { anAppliedWorkspace } = assessmentRequests(site, runRequests(site));

const ON = { 'assessments-enabled': true };

const prepare = async (name: string, attributes: object = ON): Promise<string> => {
  const id = await makeWorkspace(server, 'acme', name, attributes);
  await makeConfigurationVersion(server, id);
  await grantWorkspaceAccess(server, readers, id, 'read');
  return id;
};

const report = async (run: string, status: string, attributes: object = {}): Promise<void> =>
  void expectStatus(await executor.post(`/api/v2/runs/${run}/progress`, reportBody(status, attributes)), 200);

let assessments = 0;
/** Starts an assessment, as the job does when it is due. */
const startPlan = async (workspace: string): Promise<string> => {
  const run = deriveId('run', `assessment ${(assessments += 1)}`);
  await startAssessment(server.store, workspace, run);
  await report(run, 'planning');
  return run;
};

const assess = async (workspace: string, counts: object): Promise<void> =>
  report(await startPlan(workspace), 'planned', counts);

const PLAN = {
  format_version: '1.2',
  resource_changes: [
    makePlannedChange('aws_vpc.main', { actions: ['no-op'], before: { name: 'a' }, after: { name: 'a' } }),
  ],
  resource_drift: [
    makePlannedChange('aws_vpc.main', {
      actions: ['update'],
      before: { name: 'as written', key: 'hush-before' },
      after: { name: 'as changed', key: 'hush-after' },
      before_sensitive: { key: true },
      after_sensitive: { key: true },
    }),
    makePlannedChange('aws_subnet.gone', { actions: ['delete'], before: { name: 'b' } }),
    makePlannedChange('aws_subnet.moved', { actions: ['no-op'] }, { previous_address: 'aws_subnet.was' }),
  ],
};

const uploadPlan = async (run: string): Promise<void> => {
  const path = `/api/v2/plans/${run.replace('run-', 'plan-')}`;
  const schemas = makeProviderSchemas('aws_vpc', 'aws_subnet');
  expectStatus(await executor.put(`${path}/json-schema`, schemas), 204);
  expectStatus(await executor.put(`${path}/json-output`, PLAN), 204);
};

const open = (name: string, user = owner): Promise<TestPage> =>
  openConsole(browser, server, { user, path: `/app/acme/workspaces/${name}` });

const cardOf = (page: TestPage) => page.getByRole('region', { name: 'Health', exact: true });

const readCard = async (page: TestPage): Promise<string> => (await cardOf(page).innerText()).replaceAll(/\s+/g, ' ');

describe('the health of a workspace', () => {
  it('is off, not assessed, and then what the newest assessment found, while the screen is open', async () => {
    const id = await prepare('network', {});
    const page = await open('network');
    await cardOf(page).getByText('Health assessments are off.').waitFor();
    expect(await inspectScreen(page, 'health-off')).toEqual([]);
    expectStatus(await server.patch(`/api/v2/workspaces/${id}`, resource('workspaces', ON)), 200);
    await cardOf(page).getByText('Not assessed yet.').waitFor();
    await assess(id, { 'resources-drifted': 0, 'resources-undrifted': 3, 'checks-passed': 2 });
    await cardOf(page).getByText('No drift', { exact: true }).waitFor();
    expect(await readCard(page)).toMatch(/Resources 0 of 3 drifted Checks 2 passed/);
    await expectElements(cardOf(page).getByRole('button', { name: 'Show the drifted resources' }), 0);
    await assess(id, { 'resources-drifted': 1, 'resources-undrifted': 0, 'checks-failed': 1, 'checks-errored': 2 });
    await cardOf(page).getByText('Drifted', { exact: true }).waitFor();
    await cardOf(page).getByText('Checks failed', { exact: true }).waitFor();
    expect(await readCard(page)).toMatch(/Resources 1 of 1 drifted .*Checks 1 failed, 2 could not be evaluated/);
    await report(await startPlan(id), 'errored', { message: 'Error: No credentials' });
    await cardOf(page).getByText('Could not assess', { exact: true }).waitFor();
    // The drift of the assessment before may still be there.
    expect(await readCard(page)).toMatch(/Reason Error: No credentials Drifted since/);
    expect(await inspectScreen(page, 'health-failed')).toEqual([]);
    await cardOf(page).getByRole('link', { name: 'Settings of health assessments' }).click();
    await page.getByRole('heading', { name: 'Run output and health' }).waitFor();
    await page.context().close();
  });

  it('has the drifted resources for people who may only read, without sensitive values, after a request', async () => {
    const run = await startPlan(await prepare('database'));
    await uploadPlan(run);
    await report(run, 'planned', { 'resources-drifted': 2, 'resources-undrifted': 5 });
    const page = await open('database', reader);
    const documents: string[] = [];
    page.on('request', (request) => request.url().includes('json-output') && documents.push(request.url()));
    await cardOf(page).getByText('2 of 7 drifted').waitFor();
    expect(documents).toEqual([]);
    await cardOf(page).getByRole('button', { name: 'Show the drifted resources' }).click();
    await cardOf(page).getByText('aws_vpc.main', { exact: true }).click();
    await cardOf(page).getByText('as changed', { exact: true }).waitFor();
    const groups = cardOf(page).getByRole('group');
    await expectElements(groups, 2);
    expect((await groups.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
      '~ Changed aws_vpc.main name as written → as changed key sensitive value → another sensitive value',
      '− Deleted aws_subnet.gone',
    ]);
    expect(await page.content()).not.toContain('hush');
    expect(await inspectScreen(page, 'health-drifted')).toEqual([]);
    await cardOf(page).getByRole('button', { name: 'Hide the drifted resources' }).click();
    await expectElements(cardOf(page).getByText('aws_vpc.main'), 0);
    await cardOf(page).getByRole('link', { name: 'Plan and log of the assessment' }).click();
    await page.getByText('Changed outside of terraform').waitFor();
    await page.context().close();
  });

  it('is assessed at once for administrators, and listed for the organization', async () => {
    const [id] = [await anAppliedWorkspace(), await prepare('untouched')];
    const { name } = expectStatus(await server.get(`/api/v2/workspaces/${id}`), 200).body.data.attributes;
    const page = await open(name);
    await cardOf(page).getByRole('button', { name: 'Assess now' }).click();
    await page.waitForURL(/\/runs\/run-/);
    const run = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await report(run, 'planning');
    await report(run, 'planned', { 'resources-drifted': 1, 'resources-undrifted': 2 });
    await waitForFollowers(server.store, 'assessments');
    await page.goto(`${server.url}/app/acme/runs`);
    await page.getByRole('link', { name: 'Health', exact: true }).click();
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await row.getByText('1 of 3', { exact: true }).waitFor();
    await expectElements(page.getByRole('link', { name: 'untouched' }), 0);
    expect(await inspectScreen(page, 'health-of-organization')).toEqual([]);
    await row.getByRole('link', { name }).click();
    expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/lock`), 200);
    await cardOf(page).getByRole('button', { name: 'Assess now' }).click();
    await cardOf(page).getByRole('alert').getByText('Workspace is locked').waitFor();
    await page.context().close();
  });

  it('is assessed at once for nobody who may only read', async () => {
    await prepare('readable');
    const page = await open('readable', reader);
    await cardOf(page).getByText('Not assessed yet.').waitFor();
    await expectElements(cardOf(page).getByRole('button'), 0);
    await page.context().close();
  });

  it('waits for an assessment where the organization enforces them', async () => {
    const enforced = (value: boolean) =>
      server.patch('/api/v2/organizations/acme', resource('organizations', { 'assessments-enforced': value }));
    await prepare('enforced', {});
    expectStatus(await enforced(true), 200);
    const page = await open('enforced');
    await cardOf(page).getByText('Not assessed yet.').waitFor();
    expectStatus(await enforced(false), 200);
    await page.context().close();
  });

  it('is hidden from people who may not read results', async () => {
    const id = await prepare('secret');
    const page = await open('secret');
    await cardOf(page).waitFor();
    // Every level of access includes the permission today.
    await page.route('**/organizations/acme/workspaces/secret?*', async (route) => {
      const response = await route.fetch();
      const body: any = await response.json();
      body.data.attributes.permissions['can-read-assessment-results'] = false;
      return route.fulfill({ response, json: body });
    });
    // The screen reads the workspace again.
    const change = resource('workspaces', { description: 'Changed' });
    expectStatus(await server.patch(`/api/v2/workspaces/${id}`, change), 200);
    await expectElements(cardOf(page), 0);
    await page.getByRole('region', { name: 'Latest run' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
