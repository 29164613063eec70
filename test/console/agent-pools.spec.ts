import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { expectDisabled, inspectScreen, openConsole } from '../support/console.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let manager: string;
let member: string;
let used: string;
let free: string;

const makePool = async (name: string, attributes: object = {}): Promise<string> => {
  const answer = await server.post(
    '/api/v2/organizations/acme/agent-pools',
    resource('agent-pools', { name, ...attributes }),
  );
  return expectStatus(answer, 201).body.data.id as string;
};

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  const operators = await makeTeam(server, 'acme', 'operators', {
    'organization-access': { 'manage-agent-pools': true, 'read-workspaces': true },
  });
  manager = (await makeMember(server, 'acme', 'max', [operators])).id;
  member = (await makeMember(server, 'acme', 'mia')).id;
  await makeProject(server, 'acme', 'Shops');
  [used, free] = [await makePool('datacenter'), await makePool('spare')];
  await makeWorkspace(server, 'acme', 'network', { 'execution-mode': 'agent', 'agent-pool-id': used });
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (user: string, path: string, heading: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/acme/settings/agent-pools${path}` });
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  return page;
};

const readPool = async (id: string) => expectStatus(await server.get(`/api/v2/agent-pools/${id}`), 200).body.data;

describe('the agent pools of an organization', () => {
  it('are listed, created and restricted by people who manage them', async () => {
    const page = await open(manager, '', 'Agent pools');
    const table = page.getByRole('table', { name: 'Agent pools' });
    await table.getByRole('row').filter({ hasText: 'datacenter' }).getByText('1 workspace', { exact: true }).waitFor();
    expect(await inspectScreen(page, 'agent-pools')).toEqual([]);
    await page.getByRole('button', { name: 'New agent pool' }).click();
    const dialog = page.getByRole('dialog', { name: 'New agent pool' });
    await dialog.getByLabel('Name').fill('spare');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Name has already been taken').waitFor();
    await dialog.getByLabel('Name').fill('edge');
    await dialog.getByRole('radio', { name: 'Workspaces and projects that you choose next' }).check();
    expect(await inspectScreen(page, 'agent-pool-new')).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'edge' }).waitFor();
    const settings = page.getByRole('form', { name: 'Settings' });
    await settings.getByRole('combobox', { name: 'Projects' }).click();
    await settings.getByRole('option', { name: 'Shops' }).click();
    await settings.getByLabel('Name').fill('edge-1');
    await expectDisabled(settings.getByRole('checkbox'));
    expect(await inspectScreen(page, 'agent-pool-restricted')).toEqual([]);
    await settings.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'edge-1' }).waitFor();
    const { attributes, relationships } = await readPool(new URL(page.url()).pathname.split('/').at(-1) ?? '');
    expect(attributes).toMatchObject({ name: 'edge-1', 'organization-scoped': false });
    expect(relationships['allowed-projects'].data).toHaveLength(1);
    await page.context().close();
  });

  it('are shown to members with the right that is missing, and hidden from strangers', async () => {
    const page = await open(member, '', 'Agent pools');
    expect(await page.getByRole('button', { name: 'New agent pool' }).getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('link', { name: 'spare' }).click();
    await page.getByRole('heading', { level: 1, name: 'spare' }).waitFor();
    await page
      .getByText('You may not see the tokens of this pool. You need a team that may manage agent pools')
      .waitFor();
    await expectDisabled(page.getByRole('form', { name: 'Settings' }).getByLabel('Name'));
    expect(await inspectScreen(page, 'agent-pool-member')).toEqual([]);
    await page.context().close();
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const stranger = await open(id, `/${free}`, 'Agent pool');
    await stranger.getByRole('heading', { name: 'This agent pool does not exist, or you have no access' }).waitFor();
    expect(stranger.pageErrors).toEqual([]);
    await stranger.context().close();
  });
});

describe('an agent pool', () => {
  it('has tokens that are shown once, with the commands that use them', async () => {
    const page = await open(manager, `/${used}`, 'datacenter');
    await page.getByRole('link', { name: 'network' }).waitFor();
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog', { name: 'New token of datacenter' });
    await dialog.getByLabel('Description').fill('rack 1');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const secret = (await dialog.getByRole('region', { name: 'the token' }).textContent()) ?? '';
    const command = await dialog.getByRole('region', { name: 'the start commands' }).innerText();
    expect(command).toContain(`export POOL=${used}`);
    expect(command).toContain(`export TOKEN=${secret}`);
    const start = await dialog.getByRole('region', { name: 'the command of the executor' }).innerText();
    expect(start).toContain(`export CADASTRE_EXECUTOR_TOKEN=${secret}\ncadastre executor --server ${server.url}`);
    expect(await inspectScreen(page, 'agent-pool-token')).toEqual([]);
    const agent = server.as(secret);
    expectStatus(await agent.get(`/api/v2/agent-pools/${used}/runs`), 200);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    expect(await page.content()).not.toContain(secret);
    const registered = await agent.post(
      `/api/v2/agent-pools/${used}/agents`,
      resource('agents', { name: 'builder-1' }),
    );
    const { id } = expectStatus(registered, 201).body.data;
    expectStatus(await agent.post(`/api/v2/agents/${id}/actions/ping`, resource('agents', { status: 'idle' })), 200);
    const agents = page.getByRole('table', { name: 'Agents' });
    await agents.getByRole('row').filter({ hasText: 'builder-1' }).getByText('Idle').waitFor();
    expect(await page.getByRole('button', { name: 'Remove builder-1' }).getAttribute('aria-disabled')).toBe('true');
    expect(await inspectScreen(page, 'agent-pool')).toEqual([]);
    expectStatus(await agent.post(`/api/v2/agents/${id}/actions/ping`, resource('agents', { status: 'exited' })), 200);
    await agents.getByText('Exited').waitFor();
    await page.getByRole('button', { name: 'Remove builder-1' }).click();
    await page.getByRole('dialog', { name: 'Remove builder-1' }).getByRole('button', { name: 'Remove' }).click();
    await page.getByText('No agent has registered yet.').waitFor();
    await page.getByRole('button', { name: 'Revoke rack 1 of datacenter' }).click();
    await page.getByRole('dialog', { name: 'Revoke a token' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The pool has no token yet.').waitFor();
    expectStatus(await agent.get(`/api/v2/agent-pools/${used}/runs`), 401);
    await page.context().close();
  });

  it('is deleted when nothing uses it', async () => {
    const page = await open(manager, `/${used}`, 'datacenter');
    const refused = page.getByRole('button', { name: 'Delete the agent pool' });
    await page.getByText('1 workspace uses the pool. Let them use another one first.').first().waitFor();
    expect(await refused.getAttribute('aria-disabled')).toBe('true');
    await page.goto(`${server.url}/app/acme/settings/agent-pools/${free}`);
    await page.getByRole('button', { name: 'Delete the agent pool' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the agent pool spare' });
    await dialog.getByLabel('Type spare to confirm').fill('spare');
    expect(await inspectScreen(page, 'agent-pool-delete')).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Agent pools' }).waitFor();
    expectStatus(await server.get(`/api/v2/agent-pools/${free}`), 404);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('executes remote runs if an owner chooses it, and then belongs to owners', async () => {
    const page = await open(owner, `/${used}`, 'datacenter');
    const settings = page.getByRole('form', { name: 'Settings' });
    await settings.getByRole('checkbox', { name: 'Execute the remote runs of the organization' }).check();
    await settings.getByText('The server revokes all tokens of the pool').waitFor();
    expect(await inspectScreen(page, 'agent-pool-remote')).toEqual([]);
    await settings.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await readPool(used)).attributes['remote-runs-enabled']).toBe(true);
    await page.context().close();
    const other = await open(manager, `/${used}`, 'datacenter');
    await other.getByText('You may not see the tokens of this pool. The pool executes remote runs').waitFor();
    expect(await other.getByRole('button', { name: 'New token' }).getAttribute('aria-disabled')).toBe('true');
    await other.context().close();
  });
});
