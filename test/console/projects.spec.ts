import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { expectDisabled, inspectScreen, openConsole } from '../support/console.js';
import {
  bindTags,
  expectStatus,
  grantProjectAccess,
  makeAgentPool,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeWorkspace,
  related,
  resource,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let reader: string;
let project: string;
let team: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  project = await makeProject(server, 'acme', 'Shop');
  team = await makeTeam(server, 'acme', 'web', { visibility: 'organization' });
  await makeTeam(server, 'acme', 'platform', { visibility: 'organization' });
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
  await grantProjectAccess(server, team, project, 'read');
  const inProject = related('projects', project);
  const [identifier] = inProject.data;
  await makeWorkspace(server, 'acme', 'basket', { 'project-remote-state': true }, { project: { data: identifier } });
  await makeAgentPool(server, 'acme', 'machines');
  const set = resource('varsets', { name: 'Regions', priority: true }, { projects: inProject });
  expectStatus(await server.post('/api/v2/organizations/acme/varsets', set), 201);
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (user: string, path: string, heading: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/acme/${path}` });
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  return page;
};

const readProject = async (id: string) => (await server.get(`/api/v2/projects/${id}`)).body.data;

describe('a project', () => {
  it('is found in the list', async () => {
    const page = await open(owner, 'projects', 'Projects');
    const table = page.getByRole('table', { name: 'Projects' });
    await table.getByRole('link', { name: 'Default Project' }).waitFor();
    expect(await inspectScreen(page, 'projects')).toEqual([]);
    await page.getByLabel('Search projects by name').fill('sho');
    await page.waitForURL('**/projects?name=sho');
    await table.getByRole('link', { name: 'Shop' }).click();
    await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor();
    await page.context().close();
  });

  it('shows its workspaces, and the teams, variable sets and tags that apply to them', async () => {
    await bindTags(server, `projects/${project}`, { env: 'prod' });
    const page = await open(owner, `projects/${project}`, 'Shop');
    const workspaces = page.getByRole('region', { name: 'Workspaces', exact: true });
    await workspaces.getByRole('row', { name: /basket All workspaces of this project/ }).waitFor();
    await page
      .getByRole('region', { name: 'Variable sets' })
      .getByRole('row', { name: /Regions/ })
      .waitFor();
    await page.getByRole('button', { name: 'env=prod. Change' }).waitFor();
    await page.getByRole('row', { name: /web read/ }).waitFor();
    expect(await inspectScreen(page, 'project')).toEqual([]);
    await workspaces.getByRole('link', { name: '1 workspace in the list' }).click();
    await page.waitForURL(`**/workspaces?project=${project}`);
    await page.context().close();
  });

  it('is renamed with its description, with an undo', async () => {
    const id = await makeProject(server, 'acme', 'Old name');
    const page = await open(owner, `projects/${id}`, 'Old name');
    const card = page.getByRole('form', { name: 'Name' });
    await expectDisabled(card.getByRole('button', { name: 'Save' }));
    await card.getByLabel('Name').fill('shop');
    await card.getByLabel('Description').fill('Everything of the shop');
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText(/already been taken/i).waitFor();
    await card.getByLabel('Name').fill('New name');
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'New name' }).waitFor();
    expect((await readProject(id)).attributes.description).toBe('Everything of the shop');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('heading', { level: 1, name: 'Old name' }).waitFor();
    expect((await readProject(id)).attributes).toMatchObject({ name: 'Old name', description: '' });
    await page.context().close();
  });

  it('gives its workspaces an execution mode and a pool', async () => {
    const page = await open(owner, `projects/${project}`, 'Shop');
    const card = page.getByRole('form', { name: 'Defaults of its workspaces' });
    await card.getByRole('combobox', { name: 'Execution mode' }).click();
    await page.getByRole('option', { name: 'agent' }).click();
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText(/must be specified when using 'agent' execution mode/).waitFor();
    await card.getByRole('combobox', { name: 'Agent pool' }).click();
    await page.getByRole('option', { name: 'machines' }).click();
    await card.getByLabel('Destroy after this time without activity').fill('14d');
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await readProject(project)).attributes).toMatchObject({
      'default-execution-mode': 'agent',
      'auto-destroy-activity-duration': '14d',
    });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The former settings are back.').waitFor();
    expect((await readProject(project)).attributes).toMatchObject({
      'default-execution-mode': 'remote',
      'auto-destroy-activity-duration': null,
      'setting-overwrites': { 'default-execution-mode': false },
    });
    await page.context().close();
  });

  it('gets tags that its workspaces inherit, and loses them', async () => {
    const page = await open(owner, `projects/${project}`, 'Shop');
    await page.getByRole('button', { name: 'Add a tag' }).click();
    const dialog = page.getByRole('dialog', { name: 'New tag of Shop' });
    await dialog.getByLabel('Key').fill('cost center!');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    expect(await inspectScreen(page, 'project-tag')).toEqual([]);
    await dialog.getByLabel('Key').fill('cost-center');
    await dialog.getByLabel('Value').fill('4711');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'cost-center=4711. Change' }).click();
    await page.getByRole('button', { name: 'Remove the tag' }).click();
    await page.getByText('The project no longer has the tag cost-center.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await page.getByRole('button', { name: 'cost-center=4711. Change' }).waitFor();
    await page.context().close();
  });

  it('gives a team access, changes the level and removes it', async () => {
    const page = await open(owner, `projects/${project}`, 'Shop');
    await page.getByRole('button', { name: 'Give a team access' }).click();
    const dialog = page.getByRole('dialog', { name: 'Give a team access to Shop' });
    await dialog.getByRole('combobox', { name: 'Team' }).click();
    await page.getByRole('option', { name: 'platform' }).click();
    await dialog.getByRole('radio', { name: 'write' }).check();
    expect(await inspectScreen(page, 'project-access')).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /platform write/ }).waitFor();
    await page.getByRole('button', { name: 'Change platform' }).click();
    const change = page.getByRole('dialog', { name: 'platform: access to Shop' });
    await change.getByRole('radio', { name: 'admin' }).check();
    await change.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /platform admin/ }).waitFor();
    await page.getByRole('button', { name: 'More actions for platform' }).click();
    await page.getByRole('menuitem', { name: 'Remove platform' }).click();
    const removal = page.getByRole('dialog', { name: 'Remove the access of platform' });
    expect(await inspectScreen(page, 'project-access-remove')).toEqual([]);
    await removal.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('row', { name: /platform/ }).waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('is deleted after its name was typed, once it holds no workspace, and comes back with the undo', async () => {
    const full = await open(owner, `projects/${project}`, 'Shop');
    await full.getByRole('paragraph').filter({ hasText: 'It holds 1 workspace. Move or delete them first.' }).waitFor();
    await full.context().close();
    const id = await makeProject(server, 'acme', 'Unused');
    const page = await open(owner, `projects/${id}`, 'Unused');
    await page.getByRole('button', { name: 'Delete the project' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete Unused' });
    await expectDisabled(dialog.getByRole('button', { name: 'Delete' }));
    await dialog.getByLabel('Type Unused to confirm').fill('Unused');
    expect(await inspectScreen(page, 'project-delete')).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    await page.getByText('The project Unused is deleted.').waitFor();
    await page.getByRole('link', { name: 'Unused' }).waitFor({ state: 'detached' });
    expectStatus(await server.get(`/api/v2/projects/${id}`), 404);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The project Unused is back.').waitFor();
    await page.getByRole('link', { name: 'Unused' }).waitFor();
    expectStatus(await server.get(`/api/v2/projects/${id}`), 200);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('is shown without changes to a reader, and not at all to a stranger', async () => {
    const page = await open(reader, `projects/${project}`, 'Shop');
    const card = page.getByRole('form', { name: 'Name' });
    await expectDisabled(card.getByLabel('Name'));
    await card.getByText(/You need a team with admin access to this project/).waitFor();
    await page.getByText('You need a team that may read the access to this project to see it.').waitFor();
    await page.getByText('You need a team that may read the variable sets of this project to see them.').waitFor();
    expect(await page.getByRole('button', { name: 'Give a team access' }).getAttribute('aria-disabled')).toBe('true');
    expect(await inspectScreen(page, 'project-reader')).toEqual([]);
    await page.context().close();
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const stranger = await open(id, `projects/${project}`, 'Project');
    await stranger.getByRole('heading', { name: 'This project does not exist, or you have no access' }).waitFor();
    expect(stranger.pageErrors).toEqual([]);
    await stranger.context().close();
  });
});
