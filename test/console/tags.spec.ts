import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { chooseRowAction, inspectScreen, openConsole, expectElements } from '../support/console.js';
import {
  bindTags,
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeProject,
  makeReservedTagKey,
  makeTeam,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let reader: string;
let lab: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  const shops = await makeProject(server, 'acme', 'Shops');
  await bindTags(server, `projects/${shops}`, { env: 'prod' });
  const inShops = { project: { data: { type: 'projects', id: shops } } };
  const checkout = await makeWorkspace(server, 'acme', 'checkout', {}, inShops);
  lab = await makeWorkspace(server, 'acme', 'lab', {}, inShops);
  await bindTags(server, `workspaces/${checkout}`, { 'cost-center': '7', region: 'eu-west-1' });
  await bindTags(server, `workspaces/${lab}`, { env: 'test' });
  for (let n = 0; n < 30; n += 1) await makeWorkspace(server, 'acme', `service-${String(n).padStart(2, '0')}`);
  await makeReservedTagKey(server, 'acme', 'cost-center');
  await makeOrganization(server, 'fresh');
  const team = await makeTeam(server, 'acme', 'readers');
  await grantWorkspaceAccess(server, team, checkout, 'read');
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (user: string, path: string, heading: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/acme/${path}` });
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  return page;
};

const rename = async (workspace: string, name: string): Promise<void> =>
  void expectStatus(await server.patch(`/api/v2/workspaces/${workspace}`, resource('workspaces', { name })), 200);

const cellOf = (page: TestPage, name: string) => page.getByRole('gridcell', { name, exact: true });

describe('the matrix of tags', () => {
  it('shows values, inherited values and gaps, and closes a gap by keyboard', async () => {
    const page = await open(owner, 'tags', 'Tags');
    await cellOf(page, 'checkout, cost-center: 7').waitFor();
    await cellOf(page, 'checkout, env: prod of the project').waitFor();
    await cellOf(page, 'lab, env: test').waitFor();
    await cellOf(page, 'lab, cost-center: no value, but the key is reserved').waitFor();
    await cellOf(page, 'lab, region: no tag').waitFor();
    expect(await inspectScreen(page, 'tags')).toEqual([]);
    await cellOf(page, 'checkout, cost-center: 7').focus();
    await page.keyboard.press('ArrowDown');
    await page.locator('[aria-label^="lab, cost-center"]:focus').waitFor();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'lab: tag cost-center' });
    await page.locator('[data-autofocus]:focus').waitFor();
    await page.keyboard.type('9');
    expect(await inspectScreen(page, 'tag-dialog')).toEqual([]);
    await page.keyboard.press('Enter');
    await cellOf(page, 'lab, cost-center: 9').waitFor();
    await page.locator('[aria-label="lab, cost-center: 9"]:focus').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await cellOf(page, 'lab, cost-center: no value, but the key is reserved').click();
    await dialog.getByLabel('Value').fill('5');
    await rename(lab, 'laboratory');
    const renamed = page.getByRole('dialog', { name: 'laboratory: tag cost-center' });
    await renamed.waitFor();
    expect(await renamed.getByLabel('Value').inputValue()).toBe('5');
    await rename(lab, 'lab');
    await dialog.getByRole('link', { name: 'Open the workspace lab', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'lab' }).waitFor();
    await page.context().close();
  });

  it('keeps the search and the choice of gaps in the address', async () => {
    const page = await open(owner, 'tags?name=service-1', 'Tags');
    await cellOf(page, 'service-10, cost-center: no value, but the key is reserved').waitFor();
    await expectElements(cellOf(page, 'checkout, cost-center: 7'), 0);
    await page.getByText('With gaps', { exact: true }).click();
    await cellOf(page, 'lab, cost-center: no value').waitFor();
    expect(new URL(page.url()).search).toBe('?view=gaps');
    expect(await inspectScreen(page, 'tags-gaps')).toEqual([]);
    await page.reload();
    await cellOf(page, 'lab, cost-center: no value').waitFor();
    await page.context().close();
  });

  it('shows a member only the workspaces that the member may read', async () => {
    const page = await open(reader, 'tags', 'Tags');
    await cellOf(page, 'checkout, cost-center: 7').waitFor();
    await expectElements(page.getByRole('row'), 2);
    await cellOf(page, 'checkout, cost-center: 7').click();
    const dialog = page.getByRole('dialog', { name: 'checkout: tag cost-center' });
    await dialog.getByText('You need a team with write or admin access').waitFor();
    await expectElements(dialog.getByRole('textbox'), 0);
    await page.context().close();
  });

  it('is hidden from people without access', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const page = await open(id, 'tags', 'Tags');
    await page.getByRole('heading', { name: 'This organization does not exist, or you have no access' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('reserved keys', () => {
  it('show before they are saved which workspaces lack the key, and which override it', async () => {
    const page = await open(owner, 'tags/reserved', 'Reserved keys');
    await page.getByRole('button', { name: 'Reserve a key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Reserve a key' });
    await dialog.getByLabel('Key').fill('env');
    await dialog.getByText(/^30 workspaces without a value: service-00, .* and 22 more\.$/).waitFor();
    await dialog.getByText('1 workspace overrides its project: lab (test instead of prod).').waitFor();
    await dialog.getByLabel('Workspaces must not override the value of their project').click();
    await dialog.getByText(/New values of workspaces are refused in 1 project with 2 workspaces/).waitFor();
    expect(await inspectScreen(page, 'reserved-key-dialog')).toEqual([]);
    const { body } = expectStatus(await server.get('/api/v2/organizations/acme/reserved-tag-keys'), 200);
    expect(body.data.length).toBe(1);
    await dialog.getByRole('button', { name: 'Reserve', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: 'env' });
    await row.getByRole('cell', { name: 'Workspaces must not override it', exact: true }).waitFor();
    expect(await inspectScreen(page, 'reserved-keys')).toEqual([]);
    const tabs = page.getByRole('navigation', { name: 'Tags' });
    await tabs.getByRole('link', { name: 'Workspaces' }).click();
    await cellOf(page, 'lab, env: test').click();
    const tag = page.getByRole('dialog', { name: 'lab: tag env' });
    await tag.getByText('The key is reserved, and workspaces must not override the value').waitFor();
    await tag.getByRole('button', { name: 'Remove the tag' }).waitFor();
    await expectElements(tag.getByRole('textbox'), 0);
    await tag.getByRole('button', { name: 'Close' }).click();
    await tabs.getByRole('link', { name: 'Reserved keys' }).click();
    await chooseRowAction(page, 'env', 'Remove');
    await page.getByRole('dialog', { name: 'Remove env' }).getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('show an error of the server for a key that is not valid', async () => {
    const page = await open(owner, 'tags/reserved', 'Reserved keys');
    await page.getByRole('button', { name: 'Reserve a key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Reserve a key' });
    await dialog.getByLabel('Key').fill('cost-center');
    await dialog.getByText('Preview').waitFor();
    await dialog.getByRole('button', { name: 'Reserve', exact: true }).click();
    await dialog.getByText('Key has already been taken').waitFor();
    expect(await dialog.isVisible()).toBe(true);
    await page.context().close();
  });

  it('cannot be changed by a member who may only read, and the button gives the reason', async () => {
    const page = await open(reader, 'tags/reserved', 'Reserved keys');
    const button = page.getByRole('button', { name: 'Reserve a key' });
    await button.waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await expectElements(page.getByRole('button', { name: 'More actions for cost-center' }), 0);
    await page.context().close();
  });
});
