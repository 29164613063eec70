import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { chooseRowAction, inspectScreen, openConsole, expectElements } from '../support/console.js';
import {
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeWorkspace,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { ensureUser } from '#identity/people';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let reader: string;
let platform: string;
let owners: string;
let network: string;

const TEAMS = ['audit', 'billing', 'data', 'finance', 'mobile', 'security', 'support'];

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owners = ownersTeam;
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  const shops = await makeProject(server, 'acme', 'Shops');
  const inShops = { project: { data: { type: 'projects', id: shops } } };
  network = await makeWorkspace(server, 'acme', 'network', {}, inShops);
  for (let n = 0; n < 40; n += 1) await makeWorkspace(server, 'acme', `app-${String(n).padStart(3, '0')}`);
  platform = await makeTeam(server, 'acme', 'platform', { visibility: 'organization', 'sso-team-id': 'idp-platform' });
  const readers = await makeTeam(server, 'acme', 'readers', {
    visibility: 'organization',
    'organization-access': { 'read-workspaces': true },
  });
  for (const name of TEAMS) await makeTeam(server, 'acme', name, { visibility: 'organization' });
  await grantProjectAccess(server, platform, shops, 'write');
  await grantWorkspaceAccess(server, readers, network, 'plan');
  reader = (await makeMember(server, 'acme', 'rita', [readers])).id;
  await makeMember(server, 'acme', 'paul', [platform]);
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

describe('the teams of an organization', () => {
  it('are listed with their members and rights, and each has its members', async () => {
    const page = await open(owner, 'teams', 'Teams');
    const row = page.getByRole('row').filter({ hasText: 'platform' });
    await row.getByText('idp-platform').waitFor();
    await page.getByRole('row').filter({ hasText: 'readers' }).getByText('Read workspaces').waitFor();
    expect(await inspectScreen(page, 'teams')).toEqual([]);
    await row.getByRole('link', { name: 'platform' }).click();
    await page.getByRole('heading', { level: 1, name: 'platform' }).waitFor();
    await page.getByRole('table', { name: 'Members' }).getByText('paul@people.test').waitFor();
    expect(await inspectScreen(page, 'team')).toEqual([]);
    await page.getByRole('link', { name: 'Explain access of paul' }).click();
    await page.getByRole('heading', { level: 1, name: 'Explain access' }).waitFor();
    await page.context().close();
  });

  it('are created by an owner, and not by a member without the right', async () => {
    const page = await open(owner, 'teams', 'Teams');
    await page.getByRole('button', { name: 'New team' }).click();
    const dialog = page.getByRole('dialog', { name: 'New team' });
    await dialog.getByLabel('Name').fill('quality');
    expect(await inspectScreen(page, 'team-new')).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'quality' }).waitFor();
    await page.getByText('The team has no members yet.').waitFor();
    await page.context().close();
    const other = await open(reader, 'teams', 'Teams');
    const button = other.getByRole('button', { name: 'New team' });
    await button.waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await other.context().close();
  });

  it('get members and lose them, after the owner has confirmed it', async () => {
    const page = await open(owner, `teams/${platform}`, 'platform');
    const members = page.getByRole('table', { name: 'Members' });
    await members.getByText('paul@people.test').waitFor();
    await page.getByRole('button', { name: 'Add people' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add people to platform' });
    await dialog.getByRole('combobox', { name: 'People' }).fill('rit');
    await page.getByRole('option', { name: 'rita (rita@people.test)' }).click();
    expect(await inspectScreen(page, 'team-add-people')).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await members.getByText('rita@people.test').waitFor();
    await page.getByRole('heading', { name: 'Members (2)' }).waitFor();
    await chooseRowAction(page, 'rita', 'Remove');
    const confirmation = page.getByRole('dialog', { name: 'Remove rita from platform' });
    await confirmation.getByText('loses the access of this team at once').waitFor();
    expect(await inspectScreen(page, 'team-remove-person')).toEqual([]);
    await confirmation.getByRole('button', { name: 'Remove' }).click();
    await members.getByText('rita@people.test').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Members (1)' }).waitFor();
    await page.context().close();
  });

  it('keep at least one owner: the dialog shows why the server refuses', async () => {
    const page = await open(owner, `teams/${owners}`, 'owners');
    for (const name of ['admin', 'olga']) {
      await chooseRowAction(page, name, 'Remove');
      await page
        .getByRole('dialog', { name: `Remove ${name} from owners` })
        .getByRole('button', { name: 'Remove' })
        .click();
      if (name === 'olga') break;
      await page.getByRole('button', { name: `More actions for ${name}` }).waitFor({ state: 'detached' });
    }
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('show a member who may only read which right is missing', async () => {
    const page = await open(reader, `teams/${platform}`, 'platform');
    await page.getByRole('heading', { name: 'Members (1)' }).waitFor();
    const button = page.getByRole('button', { name: 'Add people' });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await button.focus();
    await page.getByRole('tooltip', { name: /You need a team that may manage membership/ }).waitFor();
    await page.keyboard.press('Enter');
    await expectElements(page.getByRole('dialog'), 0);
    expect(await inspectScreen(page, 'team-reader')).toEqual([]);
    await page.goto(`${server.url}/app/elsewhere/teams/${platform}`);
    await page.waitForURL(`**/app/acme/teams/${platform}`);
    await page.context().close();
  });

  it('are hidden from people without access', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const team = await openConsole(browser, server, { user: id, path: `/app/acme/teams/${platform}` });
    await team.getByRole('heading', { name: 'This team does not exist, or you have no access' }).waitFor();
    await expectElements(team.getByText('paul'), 0);
    await team.context().close();
    const page = await open(id, 'teams', 'Teams');
    await page.getByRole('heading', { name: 'This organization does not exist, or you have no access' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the matrix of access', () => {
  const cellOf = (page: TestPage, name: string) => page.getByRole('gridcell', { name });

  it('shows each level and where it comes from, and renders the cells in the window only', async () => {
    const page = await open(owner, 'teams/access', 'Access');
    // Only the columns in the window are rendered.
    await page.setViewportSize({ width: 1_920, height: 800 });
    await page.getByRole('status').filter({ hasText: '43 rows' }).waitFor();
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('44');
    await page.getByLabel('Search projects and workspaces by name').fill('net');
    await page.getByRole('status').filter({ hasText: '1 row' }).waitFor();
    await cellOf(page, 'platform, network: write to the project').waitFor();
    await cellOf(page, 'owners, network: Owner in the organization').waitFor();
    await cellOf(page, 'readers, network: plan to the workspace, Read workspaces in the organization').waitFor();
    expect(new URL(page.url()).search).toBe('?name=net');
    await page.reload();
    await cellOf(page, 'platform, network: write to the project').waitFor();
    await page.goto(`${server.url}/app/acme/teams/access`);
    await cellOf(page, 'audit, Default Project: no access').waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(40);
    expect(await inspectScreen(page, 'access')).toEqual([]);
    await page.goto(`${server.url}/app/acme/teams/access?project=prj-nope`);
    await page.getByText('Change the text above, or remove the filter by the project prj-nope.').waitFor();
    await page.getByRole('button', { name: 'Project: prj-nope. Remove the filter' }).click();
    await page.getByRole('status').filter({ hasText: '43 rows' }).waitFor();
    await page.context().close();
  });

  it('is read by keyboard, and gives, changes and removes access', async () => {
    const page = await open(owner, 'teams/access?name=network', 'Access');
    const first = page.getByRole('gridcell').first();
    await first.focus();
    await page.keyboard.press('End');
    await page.locator('[aria-label^="support, network"]:focus').waitFor();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'support: access to network' });
    await dialog.getByRole('combobox', { name: 'Access to the workspace network' }).click();
    await dialog.getByRole('option', { name: 'write' }).click();
    expect(await inspectScreen(page, 'access-dialog')).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await cellOf(page, 'support, network: write to the workspace').click();
    await dialog.getByRole('combobox', { name: 'Access to the workspace network' }).click();
    await dialog.getByRole('option', { name: 'No access' }).click();
    await dialog.getByText('The members of support lose write access to network.').waitFor();
    expect(await inspectScreen(page, 'access-removal')).toEqual([]);
    await dialog.getByRole('button', { name: 'Remove access' }).click();
    await cellOf(page, 'support, network: no access').waitFor();
    const countTeams = async (): Promise<number> => {
      const list = await server.get(`/api/v2/team-workspaces?filter[workspace][id]=${network}`);
      return expectStatus(list, 200).body.meta.pagination['total-count'];
    };
    expect(await countTeams()).toBe(1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await cellOf(page, 'support, network: write to the workspace').waitFor();
    expect(await countTeams()).toBe(2);
    await page.context().close();
  });

  it('shows a member with read access why nothing can be changed', async () => {
    const page = await open(reader, 'teams/access?name=network', 'Access');
    await page.setViewportSize({ width: 1_920, height: 800 });
    await cellOf(page, 'platform, network: write to the project').click();
    const dialog = page.getByRole('dialog', { name: 'platform: access to network' });
    await dialog.getByText('You need a team with admin access to this workspace to change this.').waitFor();
    await expectElements(dialog.getByRole('button', { name: 'Save' }), 0);
    expect(await inspectScreen(page, 'access-reader')).toEqual([]);
    await page.context().close();
  });

  it('leads a member without access to all workspaces to the explanation of their own access', async () => {
    const { id } = await makeMember(server, 'acme', 'mia');
    const page = await open(id, 'teams/access', 'Access');
    await page.getByRole('heading', { name: 'You may not see the access of all teams' }).waitFor();
    expect(await inspectScreen(page, 'access-hidden')).toEqual([]);
    await page.getByRole('button', { name: 'Why can I do something?' }).click();
    await page.getByRole('heading', { level: 1, name: 'Explain access' }).waitFor();
    await page.context().close();
  });
});

describe('the explanation of access', () => {
  const choose = async (page: TestPage, field: string, option: string): Promise<void> => {
    const input = page.getByRole('combobox', { name: field, exact: true });
    await input.click();
    await input.fill(option);
    await page.getByRole('option', { name: option, exact: true }).click();
  };

  it('shows an owner step by step why a person may do something, and keeps the choice in the address', async () => {
    const page = await open(owner, 'teams/why', 'Explain access');
    expect(await inspectScreen(page, 'why-empty')).toEqual([]);
    await choose(page, 'Person', 'paul');
    await choose(page, 'Action', 'Apply run');
    await choose(page, 'Workspace', 'network');
    await page.getByText('Yes, this is permitted').waitFor();
    const first = page.getByRole('listitem').first();
    expect(await first.textContent()).toContain(
      'Gives it: The team platform has write access to the project Shops, which includes this permission.',
    );
    expect(await inspectScreen(page, 'why-yes')).toEqual([]);
    await page.reload();
    await page.getByText('Yes, this is permitted').waitFor();
    await page.goto(`${server.url}/app/acme/teams/why?team=${platform}&permission=apply-run`);
    await page.getByPlaceholder('Every workspace').waitFor();
    await page.getByText(/^On some workspaces: \d+ of \d+$/).waitFor();
    await page.getByRole('status').getByText('network').waitFor();
    expect(await inspectScreen(page, 'why-some')).toEqual([]);
    await page.goto(`${server.url}/app/acme/teams/why?team=${platform}&permission=force-delete-own-workspace`);
    await page.getByText('No, on no workspace').waitFor();
    await page.goto(`${server.url}/app/acme/teams/why?team=${platform}&permission=apply-run&workspace=${network}`);
    await page.getByText('Yes, this is permitted').waitFor();
    await choose(page, 'Action', 'Force unlock workspace');
    await page.getByText('No, this is not permitted').waitFor();
    expect(await inspectScreen(page, 'why-no')).toEqual([]);
    await page.context().close();
  });

  it('explains to a member their own access, and not that of others', async () => {
    const own = `teams/why?user=${reader}&permission=apply-run&workspace=${network}`;
    const page = await open(reader, own, 'Explain access');
    await page.getByText('No, this is not permitted').waitFor();
    await page.goto(`${server.url}/app/acme/teams/why?team=${platform}&permission=apply-run&workspace=${network}`);
    await page.getByText('You may not see this explanation').waitFor();
    await expectElements(page.getByText('Step by step'), 0);
    await page.context().close();
  });
});
