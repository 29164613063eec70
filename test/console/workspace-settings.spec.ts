import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { expectDisabled, inspectScreen, openConsole, expectElements } from '../support/console.js';
import {
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeAgentPool,
  makeMember,
  makeOrganization,
  makeProject,
  makeRunTrigger,
  makeTeam,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import { newStateVersion, stateFile } from '../support/state-file.js';
import { waitUntil } from '../support/product.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let workspace: string;
const people: Record<'writer' | 'reader', string> = { writer: '', reader: '' };
const projects: Record<'shop' | 'lab', string> = { shop: '', lab: '' };

const makePerson = async (name: string, level: 'read' | 'write'): Promise<string> => {
  const team = await makeTeam(server, 'acme', `${name}s`);
  await grantWorkspaceAccess(server, team, workspace, level);
  return (await makeMember(server, 'acme', name, [team])).id;
};

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  projects.shop = await makeProject(server, 'acme', 'Shop');
  projects.lab = await makeProject(server, 'acme', 'Lab');
  workspace = await makeWorkspace(server, 'acme', 'network', {}, { project: { data: { id: projects.shop } } });
  await makeAgentPool(server, 'acme', 'builders');
  people.writer = await makePerson('writer', 'write');
  people.reader = await makePerson('reader', 'read');
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const openSettings = async (user: string, name = 'network'): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/acme/workspaces/${name}/settings` });
  await page.getByRole('heading', { level: 1, name }).waitFor();
  return page;
};

const cardOf = (page: TestPage, name: string) => page.getByRole('region', { name, exact: true });
const save = (page: TestPage, card: string) => cardOf(page, card).getByRole('button', { name: 'Save' }).click();
/** Saves a card, and waits until the server has accepted it. */
const saveAll = async (page: TestPage, card: string) => {
  await save(page, card);
  await cardOf(page, card).locator('button[type="submit"]:disabled').waitFor();
};
const undo = async (page: TestPage) => {
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('The former settings are back.').waitFor();
};

const choose = async (page: TestPage, card: string, field: string, option: string | RegExp): Promise<void> => {
  await cardOf(page, card).getByRole('combobox', { name: field }).click();
  await page.getByRole('option', { name: option }).click();
};

const readWorkspace = async () => expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data;
const listConsumers = async (): Promise<readonly string[]> => {
  const path = `/api/v2/workspaces/${workspace}/relationships/remote-state-consumers?show_only_configured=true`;
  const { body } = expectStatus(await server.get(path), 200);
  return body.data.map(({ attributes }: { attributes: { name: string } }) => attributes.name);
};
const readAttributes = async () => (await readWorkspace()).attributes;

describe('the settings of a workspace', () => {
  it('rename it, and the address follows', async () => {
    const page = await openSettings(owner);
    const general = cardOf(page, 'General');
    const name = general.getByLabel('Name');
    await expectDisabled(general.getByRole('button', { name: 'Save' }));
    await name.fill('no name');
    await save(page, 'General');
    await general.getByText('Name may only contain letters, numbers, dashes and underscores').waitFor();
    await name.fill('backbone');
    await general.getByLabel('Description').fill('Routes between regions');
    await save(page, 'General');
    await page.getByRole('heading', { level: 1, name: 'backbone' }).waitFor();
    await page.getByText('Saved.').waitFor();
    expect(page.url()).toBe(`${server.url}/app/acme/workspaces/backbone/settings`);
    await expectElements(page.getByText('This workspace has a new name'), 0);
    expect(await readAttributes()).toMatchObject({ name: 'backbone', description: 'Routes between regions' });
    await undo(page);
    await page.getByRole('heading', { level: 1, name: 'network' }).waitFor();
    expect(await readAttributes()).toMatchObject({ name: 'network', description: '' });
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('show what a move to another project changes, and move it', async () => {
    const team = await makeTeam(server, 'acme', 'lab-people');
    await grantProjectAccess(server, team, projects.lab, 'write');
    const page = await openSettings(owner);
    await choose(page, 'Project', 'Project', 'Lab');
    const preview = page.getByRole('status').filter({ hasText: 'A move to Lab' });
    await preview.getByText('Team lab-people: no access → write through the project').waitFor();
    await preview.scrollIntoViewIfNeeded();
    expect(await inspectScreen(page, 'workspace-move')).toEqual([]);
    await saveAll(page, 'Project');
    expect((await readWorkspace()).relationships.project.data.id).toBe(projects.lab);
    await undo(page);
    expect((await readWorkspace()).relationships.project.data.id).toBe(projects.shop);
    await page.context().close();
  });

  it('show where the execution mode comes from, and lead back to the inherited one', async () => {
    const defaults = { 'default-execution-mode': 'local' };
    expectStatus(await server.patch(`/api/v2/projects/${projects.shop}`, resource('projects', defaults)), 200);
    const page = await openSettings(owner);
    const execution = cardOf(page, 'Execution');
    await execution.getByText('Inherited from the project Shop.').waitFor();
    await choose(page, 'Execution', 'Execution mode', 'Agent');
    await save(page, 'Execution');
    await execution.getByText("Agent pool must be specified when using 'agent' execution mode").waitFor();
    await choose(page, 'Execution', 'Agent pool', 'builders');
    await execution.getByLabel('Apply automatically').check();
    await execution.getByLabel('Terraform version').fill('99.0.0');
    await save(page, 'Execution');
    await execution.getByText('99.0.0 is not a known release').waitFor();
    await execution.getByLabel('Terraform version').fill('1.9.0');
    expect(await inspectScreen(page, 'workspace-execution')).toEqual([]);
    await saveAll(page, 'Execution');
    expect(await readAttributes()).toMatchObject({
      'execution-mode': 'agent',
      'auto-apply': true,
      'terraform-version': '1.9.0',
    });
    await execution.getByText('From the project Shop, it would inherit Local.').waitFor();
    await choose(page, 'Execution', 'Execution mode', /^Inherited/);
    await saveAll(page, 'Execution');
    await execution.getByText('Inherited from the project Shop.').waitFor();
    expect(await readAttributes()).toMatchObject({ 'execution-mode': 'local', 'auto-apply': true });
    await undo(page);
    const { attributes, relationships } = await readWorkspace();
    expect(attributes).toMatchObject({ 'execution-mode': 'agent', 'setting-overwrites': { 'agent-pool': true } });
    expect(relationships['agent-pool'].data).not.toBeNull();
    await page.context().close();
  });

  it('are reached by links beside the cards, and by the graph of shared states', async () => {
    const page = await openConsole(browser, server, { user: owner, path: '/app/acme/workspaces/network/state' });
    await page.getByRole('link', { name: 'Change who reads it' }).click();
    await cardOf(page, 'Remote state sharing').waitFor();
    const isInView = async (card: string) => {
      const top = (await cardOf(page, card).boundingBox())?.y ?? -1;
      return top >= 0 && top < 800;
    };
    await waitUntil(() => isInView('Remote state sharing'), 'the card of the address is in view');
    await page.getByRole('link', { name: 'Delete the workspace' }).click();
    await waitUntil(() => isInView('Delete the workspace'), 'the last card is in view');
    expect(page.url()).toBe(`${server.url}/app/acme/workspaces/network/settings#delete`);
    await page.context().close();
  });

  it('let applies of other workspaces start runs, name the path of a cycle, and draw both directions', async () => {
    const upstream = await makeWorkspace(server, 'acme', 'upstream');
    const downstream = await makeWorkspace(server, 'acme', 'downstream');
    await makeRunTrigger(server, downstream, workspace);
    const page = await openSettings(owner);
    const card = cardOf(page, 'Run triggers');
    await card.getByText('Applies of other workspaces start no runs here.').waitFor();
    await choose(page, 'Run triggers', 'Add a source', 'upstream');
    await page.getByText('Applies of upstream start runs here.').waitFor();
    const linkOn = (side: string, name: string) => card.getByRole('region', { name: side }).getByRole('link', { name });
    await linkOn('Runs start after applies of', 'upstream').waitFor();
    await linkOn('Applies start runs in', 'downstream').waitFor();
    await choose(page, 'Run triggers', 'Add a source', 'downstream');
    await card.getByText('Run triggers must not form a cycle: network → downstream → network').waitFor();
    await card.getByLabel('Apply these runs without a confirmation').check();
    await saveAll(page, 'Run triggers');
    expect(await readAttributes()).toMatchObject({ 'auto-apply-run-trigger': true });
    await card.scrollIntoViewIfNeeded();
    expect(await inspectScreen(page, 'workspace-run-triggers')).toEqual([]);
    await card.getByRole('link', { name: 'All run triggers' }).click();
    const graph = page.getByRole('region', { name: 'Graph of run triggers' });
    const getLeft = async (name: string) => (await graph.getByRole('link', { name }).boundingBox())?.x ?? Number.NaN;
    const middle = await getLeft('network');
    expect(await getLeft('upstream')).toBeLessThan(middle);
    expect(await getLeft('downstream')).toBeGreaterThan(middle);
    await expectElements(page.getByRole('table', { name: 'Run triggers' }).getByRole('row'), 3);
    expect(await inspectScreen(page, 'run-triggers')).toEqual([]);
    await graph.getByRole('link', { name: 'downstream' }).focus();
    await expectElements(graph.locator('path[data-active]'), 1);
    await page.goBack();
    await card.scrollIntoViewIfNeeded();
    await card.getByRole('button', { name: 'Remove upstream' }).click();
    await card.getByText('Applies of other workspaces start no runs here.').waitFor();
    const answer = await server.get(`/api/v2/workspaces/${upstream}/run-triggers?filter[run-trigger][type]=outbound`);
    expect(expectStatus(answer, 200).body.data).toEqual([]);
    await page.context().close();
  });

  it('share the state with listed workspaces, or with the organization, and undo both', async () => {
    await makeWorkspace(server, 'acme', 'cluster');
    const page = await openSettings(owner);
    const sharing = cardOf(page, 'Remote state sharing');
    await sharing.getByText('The list is empty').waitFor();
    await choose(page, 'Remote state sharing', 'Add a workspace', 'cluster');
    await page.getByText('Runs of cluster may read the state.').waitFor();
    await sharing.getByRole('link', { name: 'cluster' }).waitFor();
    expect(await listConsumers()).toEqual(['cluster']);
    await sharing.getByRole('button', { name: 'Remove cluster' }).click();
    await sharing.getByText('The list is empty').waitFor();
    await page
      .getByRole('region', { name: 'Messages' })
      .locator('> div')
      .filter({ hasText: 'Runs of cluster may no longer read the state.' })
      .getByRole('button', { name: 'Undo' })
      .click();
    await sharing.getByRole('link', { name: 'cluster' }).waitFor();
    await choose(page, 'Remote state sharing', 'Runs that may read the state', 'All workspaces of the organization');
    await sharing.getByText('The list of 1 workspace becomes empty.').waitFor();
    await sharing.scrollIntoViewIfNeeded();
    expect(await inspectScreen(page, 'workspace-sharing')).toEqual([]);
    await saveAll(page, 'Remote state sharing');
    expect(await readAttributes()).toMatchObject({ 'global-remote-state': true });
    expect(await listConsumers()).toEqual([]);
    await page
      .getByRole('region', { name: 'Messages' })
      .locator('> div')
      .filter({ hasText: 'Saved.' })
      .getByRole('button', { name: 'Undo' })
      .click();
    await page.getByText('The former settings are back.').waitFor();
    expect(await readAttributes()).toMatchObject({ 'global-remote-state': false });
    expect(await listConsumers()).toEqual(['cluster']);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('keep or delete old states, and show the policy of the organization', async () => {
    const policy = resource('data-retention-policy-delete-olders', { 'delete-older-than-n-days': 90 });
    const path = 'relationships/data-retention-policy';
    expectStatus(await server.post(`/api/v2/organizations/acme/${path}`, policy), 200);
    const page = await openSettings(owner);
    const retention = cardOf(page, 'Data retention');
    const field = retention.getByRole('combobox', { name: 'Old states and configurations' });
    await field.waitFor();
    expect(await field.inputValue()).toBe('As the organization: delete data older than 90 days');
    await choose(page, 'Data retention', 'Old states and configurations', 'Delete data of a certain age');
    await retention.getByLabel('Delete data that is older than').fill('99999999');
    await save(page, 'Data retention');
    await retention.getByText('Delete older than n days must be').waitFor();
    await retention.getByLabel('Delete data that is older than').fill('7');
    await saveAll(page, 'Data retention');
    const { body } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/${path}`), 200);
    expect(body.data).toMatchObject({
      attributes: { 'delete-older-than-n-days': 7 },
      relationships: { target: { data: { type: 'workspaces' } } },
    });
    await undo(page);
    expect(await field.inputValue()).toBe('As the organization: delete data older than 90 days');
    await page.context().close();
  });

  it('assign an SSH key by its name', async () => {
    const key = { name: 'git', value: 'a private key' };
    expectStatus(await server.post('/api/v2/organizations/acme/ssh-keys', resource('ssh-keys', key)), 201);
    const page = await openSettings(owner);
    const card = cardOf(page, 'SSH key');
    await card.getByText('The workspace has no key.').waitFor();
    await card.getByRole('button', { name: 'Choose a key' }).click();
    await choose(page, 'SSH key', 'SSH key', 'git');
    await saveAll(page, 'SSH key');
    await card.getByText('The workspace has a key.').waitFor();
    expect((await readWorkspace()).relationships['ssh-key'].data).not.toBeNull();
    await undo(page);
    await card.getByText('The workspace has no key.').waitFor();
    await page.context().close();
  });

  it('set an automatic destruction of its own, and return to the one of the project', async () => {
    const defaults = { 'auto-destroy-activity-duration': '14d' };
    expectStatus(await server.patch(`/api/v2/projects/${projects.shop}`, resource('projects', defaults)), 200);
    const page = await openSettings(owner);
    const card = cardOf(page, 'Destruction');
    const source = card.getByRole('combobox', { name: 'Automatic destruction' });
    await source.waitFor();
    expect(await source.inputValue()).toBe('As the project: 14d without a change of the state');
    await choose(page, 'Destruction', 'Automatic destruction', 'The workspace’s own');
    await card.getByLabel('Destroy after a time without a change of the state').fill('2w');
    await card.getByLabel('Destroy at').fill('2027-01-31T10:30');
    await save(page, 'Destruction');
    await card.getByText('Auto destroy activity duration').waitFor();
    await card.getByLabel('Destroy after a time without a change of the state').fill('36h');
    await card.scrollIntoViewIfNeeded();
    expect(await inspectScreen(page, 'workspace-destruction')).toEqual([]);
    await saveAll(page, 'Destruction');
    expect(await readAttributes()).toMatchObject({
      'inherits-project-auto-destroy': false,
      'auto-destroy-activity-duration': '36h',
      'auto-destroy-at': expect.stringContaining('2027-01-31'),
    });
    await choose(page, 'Destruction', 'Automatic destruction', /^As the project/);
    await saveAll(page, 'Destruction');
    expect(await readAttributes()).toMatchObject({ 'inherits-project-auto-destroy': true, 'auto-destroy-at': null });
    await undo(page);
    expect(await readAttributes()).toMatchObject({
      'inherits-project-auto-destroy': false,
      'auto-destroy-activity-duration': '36h',
    });
    await page.context().close();
  });

  it('say on every screen when the resources are destroyed, postpone it, and name what prevents it', async () => {
    const id = await makeWorkspace(server, 'acme', 'forgotten', { 'auto-destroy-at': '2030-01-31T12:00:00.000Z' });
    const path = `/api/v2/workspaces/${id}`;
    expectStatus(await server.post(`${path}/actions/lock`), 200);
    expectStatus(await server.post(`${path}/state-versions`, newStateVersion(stateFile(), { inline: true })), 201);
    expectStatus(await server.post(`${path}/actions/unlock`), 200);
    const page = await openConsole(browser, server, { user: owner, path: '/app/acme/workspaces/forgotten' });
    await page.getByText('All resources of this workspace are destroyed on').waitFor();
    expect(await inspectScreen(page, 'workspace-destroy-banner')).toEqual([]);
    await page.getByRole('button', { name: 'Postpone by a week' }).click();
    await page.getByText('Postponed by a week.').waitFor();
    const { attributes } = expectStatus(await server.get(path), 200).body.data;
    expect(attributes['auto-destroy-at']).toBe('2030-02-07T12:00:00.000Z');
    const forbidden = resource('workspaces', { 'allow-destroy-plan': false });
    expectStatus(await server.patch(path, forbidden), 200);
    await page.reload();
    await page.getByText('because this workspace allows no destroy plans').waitFor();
    await expectElements(page.getByRole('button', { name: 'Postpone by a week' }), 0);
    expectStatus(await server.patch(path, resource('workspaces', { 'auto-destroy-at': '2020-01-31T12:00:00Z' })), 200);
    await page.reload();
    await page.getByText('passed days ago').waitFor();
    await expectElements(page.getByText('All resources of this workspace are destroyed on'), 0);
    await page.context().close();
  });

  it('show and clear a fixed time beside a duration', async () => {
    const attributes = { 'auto-destroy-at': '2030-01-31T12:00:00.000Z', 'auto-destroy-activity-duration': '14d' };
    const path = `/api/v2/workspaces/${await makeWorkspace(server, 'acme', 'postponed', attributes)}`;
    expectStatus(await server.post(`${path}/actions/lock`), 200);
    expectStatus(await server.post(`${path}/state-versions`, newStateVersion(stateFile(), { inline: true })), 201);
    expectStatus(await server.post(`${path}/actions/unlock`), 200);
    const page = await openConsole(browser, server, { user: owner, path: '/app/acme/workspaces/postponed/settings' });
    const field = cardOf(page, 'Destruction').getByLabel('Destroy at');
    await field.waitFor();
    expect(await field.inputValue()).toMatch(/^2030-0/);
    await field.fill('');
    await saveAll(page, 'Destruction');
    expect(expectStatus(await server.get(path), 200).body.data.attributes).toMatchObject({
      'auto-destroy-fixed-at': null,
      'auto-destroy-activity-duration': '14d',
    });
    await page.context().close();
  });

  it.each(['writer', 'reader'] as const)('are shown to a %s, who may not change them', async (person) => {
    const page = await openSettings(people[person]);
    const general = cardOf(page, 'General');
    await general.getByText('Teams with admin access to this workspace').waitFor();
    await expectDisabled(general.getByLabel('Name'));
    await expectElements(page.getByRole('button', { name: 'Save' }), 0);
    expect(await inspectScreen(page, `workspace-settings-${person}`)).toEqual([]);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are hidden from people without access', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const page = await openSettings(id);
    await page.getByRole('heading', { name: 'This workspace does not exist, or you have no access' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the overview', () => {
  it('names the pool and the source of the mode, and leads to the settings', async () => {
    const pool = await makeAgentPool(server, 'acme', 'testers');
    await makeWorkspace(server, 'acme', 'tested', { 'execution-mode': 'agent', 'agent-pool-id': pool });
    const page = await openConsole(browser, server, { user: owner, path: '/app/acme/workspaces/tested' });
    const settings = cardOf(page, 'Settings');
    await settings.getByText('testers').waitFor();
    await settings.getByText('Agent', { exact: true }).waitFor();
    await settings.getByRole('link', { name: 'All settings' }).click();
    await cardOf(page, 'General').waitFor();
    expect(page.url()).toBe(`${server.url}/app/acme/workspaces/tested/settings`);
    await page.context().close();
  });
});

describe('the deletion of a workspace', () => {
  const upload = async (id: string): Promise<void> => {
    expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/lock`), 200);
    const body = newStateVersion(stateFile({ names: ['vpc'] }), { inline: true });
    expectStatus(await server.post(`/api/v2/workspaces/${id}/state-versions`, body), 201);
    expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/unlock`), 200);
  };

  it('needs the name, and leads to the list', async () => {
    const id = await makeWorkspace(server, 'acme', 'empty');
    const page = await openSettings(owner, 'empty');
    await cardOf(page, 'Delete the workspace').getByRole('button', { name: 'Delete' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete empty' });
    await dialog.getByText('0 state versions').waitFor();
    await dialog.getByLabel('Type empty to confirm').fill('empty');
    expect(await inspectScreen(page, 'workspace-delete')).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The workspace empty is deleted.').waitFor();
    await page.waitForURL('**/app/acme/workspaces');
    expectStatus(await server.get(`/api/v2/workspaces/${id}`), 404);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('names what stops it, and can be forced with the losses on the screen', async () => {
    const id = await makeWorkspace(server, 'acme', 'full');
    await upload(id);
    expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/lock`), 200);
    const page = await openSettings(owner, 'full');
    const card = cardOf(page, 'Delete the workspace');
    await card.getByText('It is locked by admin.').waitFor();
    await card.getByText('Its state manages 1 resource').waitFor();
    expect(await card.getByRole('button', { name: 'Delete', exact: true }).getAttribute('aria-disabled')).toBe('true');
    await card.scrollIntoViewIfNeeded();
    expect(await inspectScreen(page, 'workspace-delete-stopped')).toEqual([]);
    await card.getByRole('button', { name: 'Force the deletion' }).click();
    const dialog = page.getByRole('dialog', { name: 'Force the deletion of full' });
    await dialog.getByText('1 state version', { exact: true }).waitFor();
    await dialog.getByText('1 resource of the state stays').waitFor();
    expect(await inspectScreen(page, 'workspace-delete-forced')).toEqual([]);
    await dialog.getByLabel('Type full to confirm').fill('full');
    await dialog.getByRole('button', { name: 'Delete by force' }).click();
    await page.getByText('The workspace full is deleted.').waitFor();
    expectStatus(await server.get(`/api/v2/workspaces/${id}`), 404);
    await page.context().close();
  });

  it('is explained to a member who may not delete', async () => {
    const page = await openSettings(people.writer);
    const button = cardOf(page, 'Delete the workspace').getByRole('button', { name: 'Delete' });
    await button.focus();
    await page.getByRole('tooltip', { name: /You need a team with admin access/ }).waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await page.context().close();
  });
});
