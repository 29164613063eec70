import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, pauseRequests } from '../support/console.js';
import {
  expectStatus,
  grantProjectAccess,
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
let maintainer: string;
let project: string;
let workspace: string;

const makeSet = async (attributes: object, relationships?: object): Promise<string> => {
  const body = resource('varsets', attributes, relationships);
  return expectStatus(await server.post('/api/v2/organizations/acme/varsets', body), 201).body.data.id as string;
};

const readSet = async (id: string) => (await server.get(`/api/v2/varsets/${id}`)).body.data;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  project = await makeProject(server, 'acme', 'Shop');
  const team = await makeTeam(server, 'acme', 'web', { visibility: 'organization' });
  maintainer = (await makeMember(server, 'acme', 'mara', [team])).id;
  await grantProjectAccess(server, team, project, 'maintain');
  const [identifier] = related('projects', project).data;
  workspace = await makeWorkspace(server, 'acme', 'basket', {}, { project: { data: identifier } });
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (user: string, path: string, heading: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/acme/settings/${path}` });
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  return page;
};

describe('the variable sets of an organization', () => {
  it('are created with variables, and applied to projects and workspaces', async () => {
    const page = await open(owner, 'variable-sets', 'Variable sets');
    await page.getByRole('button', { name: 'New variable set' }).click();
    const dialog = page.getByRole('dialog', { name: 'New variable set' });
    await dialog.getByLabel('Name').fill('Regions');
    await dialog.getByLabel('Priority').check();
    expect(await inspectScreen(page, 'variable-set-new')).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Regions' }).waitFor();
    const id = page.url().split('/').at(-1) ?? '';
    await page.getByRole('button', { name: 'New variable' }).click();
    const form = page.getByRole('dialog', { name: 'New variable' });
    await form.getByLabel('Key').fill('region');
    await form.getByRole('textbox', { name: 'Value' }).fill('eu-central-1');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /region eu-central-1 Terraform/ }).waitFor();
    await page.getByRole('button', { name: 'Apply to more' }).click();
    const apply = page.getByRole('dialog', { name: 'Apply Regions' });
    await apply.getByRole('combobox', { name: 'Project' }).click();
    await page.getByRole('option', { name: 'Shop' }).click();
    expect(await inspectScreen(page, 'variable-set-apply')).toEqual([]);
    await apply.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText(/The set reaches at most 1 workspace\. It has priority/).waitFor();
    expect(await inspectScreen(page, 'variable-set')).toEqual([]);
    expect((await readSet(id)).relationships.projects.data).toEqual([{ type: 'projects', id: project }]);
    await page.getByRole('button', { name: 'Remove Shop' }).click();
    const removal = page.getByRole('dialog', { name: 'Remove Shop from Regions' });
    await removal.getByRole('button', { name: 'Remove' }).click();
    await page.getByText('The set reaches at most 0 workspaces.').waitFor();
    await page.getByText('The set Regions no longer applies to Shop.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await page.getByRole('row', { name: /Shop 1 workspace of the project/ }).waitFor();
    await page.context().close();
  });

  it('are listed, changed, deleted after their name was typed, and come back with the undo', async () => {
    const id = await makeSet({ name: 'Tools' }, { workspaces: related('workspaces', workspace) });
    const page = await open(owner, 'variable-sets', 'Variable sets');
    await page.getByRole('row', { name: /Tools 1 workspace 0/ }).waitFor();
    expect(await inspectScreen(page, 'variable-sets')).toEqual([]);
    await page.getByRole('link', { name: 'Tools' }).click();
    const card = page.getByRole('form', { name: 'Settings' });
    await card.getByLabel('Name').fill('regions');
    await card.getByRole('button', { name: 'Save' }).click();
    await card.locator('[aria-invalid="true"]').waitFor();
    await card.getByLabel('Name').fill('Tooling');
    await card.getByRole('switch', { name: 'Apply to all workspaces of the organization' }).check({ force: true });
    await card.getByText('The set loses its list (1 workspace).').waitFor();
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'Tooling' }).waitFor();
    await page.getByText(/The set reaches all 1 workspace that you may read/).waitFor();
    expect((await readSet(id)).attributes).toMatchObject({ name: 'Tooling', global: true });
    await page.getByRole('button', { name: 'Delete the variable set' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete Tooling' });
    await dialog.getByText(/It applies to: All workspaces/).waitFor();
    await dialog.getByLabel('Type Tooling to confirm').fill('Tooling');
    expect(await inspectScreen(page, 'variable-set-delete')).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Variable sets' }).waitFor();
    await page.getByText('The variable set Tooling is deleted.').waitFor();
    await page.getByRole('link', { name: 'Tooling' }).waitFor({ state: 'detached' });
    expectStatus(await server.get(`/api/v2/varsets/${id}`), 404);
    await page.getByRole('button', { name: 'Undo' }).last().click();
    await page.getByText('The variable set Tooling is back.').waitFor();
    await page.getByRole('link', { name: 'Tooling' }).waitFor();
    expect((await readSet(id)).attributes).toMatchObject({ name: 'Tooling', global: true });
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('keep a variable that somebody else has changed while a person types', async () => {
    const id = await makeSet({ name: 'Shared' }, { projects: related('projects', project) });
    const path = `/api/v2/varsets/${id}/relationships/vars`;
    const variable = resource('vars', { key: 'size', value: 'small', category: 'terraform' });
    const created = expectStatus(await server.post(path, variable), 201).body.data.id as string;
    const page = await open(owner, `variable-sets/${id}`, 'Shared');
    await page.getByRole('button', { name: 'Change size' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change size' });
    await dialog.getByRole('textbox', { name: 'Value' }).fill('large');
    // Neither the live stream nor the form shows what another person changes now.
    const reads = await pauseRequests(page, 'GET', `**${path}*`);
    expectStatus(await server.patch(`${path}/${created}`, resource('vars', { value: 'medium' })), 200);
    await dialog.getByRole('button', { name: 'Save' }).click();
    reads.release();
    await dialog.getByText(/The value is now medium/).waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /size large/ }).waitFor();
    await page.context().close();
  });

  it('can be changed by people with access to the project that owns them, and not be read by strangers', async () => {
    const owned = { parent: { data: { type: 'projects', id: project } }, projects: related('projects', project) };
    const id = await makeSet({ name: 'Of the shop' }, owned);
    const page = await open(maintainer, `variable-sets/${id}`, 'Of the shop');
    const card = page.getByRole('form', { name: 'Settings' });
    await card.getByLabel('Description').fill('Sizes of machines');
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await readSet(id)).attributes.description).toBe('Sizes of machines');
    await page.context().close();
    const nina = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const stranger = await open(nina.id, `variable-sets/${id}`, 'Variable set');
    await stranger.getByRole('heading', { name: /This variable set does not exist/ }).waitFor();
    expect(stranger.pageErrors).toEqual([]);
    await stranger.context().close();
  });
});
