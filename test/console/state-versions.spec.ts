import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole } from '../support/console.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
} from '../support/seeds.js';
import { newStateVersion, stateFile, type TestStateFile } from '../support/state-file.js';
import { startTestServer, type TestServer } from '../support/server.js';

const OLD_SECRET = 'the-first-password';
const NEW_SECRET = 'the-second-password';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let reader: string;
let workspace: string;

const upload = async (state: TestStateFile): Promise<void> => {
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/lock`), 200);
  const body = newStateVersion(state, { inline: true });
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/state-versions`, body), 201);
  expectStatus(await server.post(`/api/v2/workspaces/${workspace}/actions/unlock`), 200);
};

const outputsWith = (cidr: string, password: string): object => ({
  cidr: { value: cidr, type: 'string' },
  password: { value: password, type: 'string', sensitive: true },
});

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  workspace = await makeWorkspace(server, 'acme', 'network');
  await makeWorkspace(server, 'acme', 'fresh');
  const first = stateFile({ outputs: outputsWith('10.0.0.0/16', OLD_SECRET), names: ['vpc', 'gateway'] });
  await upload(first);
  const outputs = outputsWith('10.1.0.0/16', NEW_SECRET);
  await upload(stateFile({ serial: 2, lineage: first.lineage, outputs, names: ['vpc', 'subnet'] }));
  const team = await makeTeam(server, 'acme', 'readers');
  await grantWorkspaceAccess(server, team, workspace, 'read');
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const openVersions = (user: string, name = 'network'): Promise<TestPage> =>
  openConsole(browser, server, { user, path: `/app/acme/workspaces/${name}/states` });

describe('the state versions of a workspace', () => {
  it('show what a version changed, without sensitive values', async () => {
    const page = await openVersions(owner);
    await page.getByRole('button', { name: 'Show what serial 2 changed' }).click();
    const comparison = page.getByRole('region', { name: 'From serial 1 to serial 2' });
    await comparison.getByText('Resources: 1 added, 1 changed, 1 removed. Outputs: 2 changed.').waitFor();
    await comparison.getByText('terraform_data.subnet').waitFor();
    await comparison.getByText('terraform_data.gateway').waitFor();
    const outputs = comparison.getByRole('region', { name: 'Changed outputs' });
    expect(await outputs.locator('del').allTextContents()).toEqual(['"10.0.0.0/16"']);
    expect(await outputs.locator('ins').allTextContents()).toEqual(['"10.1.0.0/16"']);
    await outputs.getByText('Sensitive value: changed').waitFor();
    for (const secret of [OLD_SECRET, NEW_SECRET]) expect(await page.content()).not.toContain(secret);
    expect(await inspectScreen(page, 'state-versions')).toEqual([]);
    await page.context().close();
  });

  it('are compared in the order that the person chooses, which the address keeps', async () => {
    const page = await openVersions(owner);
    await page.getByRole('radio', { name: 'Compare from serial 2' }).check();
    await page.getByRole('radio', { name: 'Compare to serial 1' }).check();
    await page.getByRole('region', { name: 'From serial 2 to serial 1' }).getByText('Resources: 1 added').waitFor();
    await page.reload();
    await page.getByRole('region', { name: 'From serial 2 to serial 1' }).getByText('Resources: 1 added').waitFor();
    await page.goto(`${server.url}/app/acme/workspaces/network/states?from=sv-x&to=sv-y`);
    const missing = page.getByRole('region', { name: 'From sv-x to sv-y' });
    await missing.getByText('This state version does not exist, or you have no access').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are shown to a member who may read them', async () => {
    const page = await openVersions(reader);
    await page.getByRole('row').filter({ hasText: 'Current' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are explained for a workspace without a state', async () => {
    const page = await openVersions(owner, 'fresh');
    await page.getByRole('heading', { name: 'There is no state version yet' }).waitFor();
    expect(await inspectScreen(page, 'state-versions-empty')).toEqual([]);
    await page.context().close();
  });

  it('are not shown to a person without access', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const page = await openVersions(id);
    await page.getByRole('heading', { name: 'This workspace does not exist, or you have no access' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
