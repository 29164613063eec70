import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { chooseRowAction, expectDisabled, inspectScreen, openConsole, expectElements } from '../support/console.js';
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

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let manager: string;
let member: string;
let platform: string;
let owners: string;
let network: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owners = ownersTeam;
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  const shops = await makeProject(server, 'acme', 'Shops');
  network = await makeWorkspace(server, 'acme', 'network');
  platform = await makeTeam(server, 'acme', 'platform', { visibility: 'organization' });
  await grantProjectAccess(server, platform, shops, 'write');
  await grantWorkspaceAccess(server, platform, network, 'plan');
  const leads = await makeTeam(server, 'acme', 'leads', {
    visibility: 'organization',
    'organization-access': { 'manage-teams': true },
  });
  manager = (await makeMember(server, 'acme', 'max', [leads])).id;
  member = (await makeMember(server, 'acme', 'mia', [platform])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (user: string, path: string, heading: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/acme/teams/${path}` });
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  return page;
};

const readTeam = async (id: string) => expectStatus(await server.get(`/api/v2/teams/${id}`), 200).body.data.attributes;

describe('what a team may do', () => {
  it('is changed by an owner, who can undo it', async () => {
    const page = await open(owner, `${platform}/access`, 'platform');
    const projects = page.getByRole('table', { name: 'Projects and workspaces' });
    await projects.getByRole('row').filter({ hasText: 'Shops' }).getByText('Write').waitFor();
    await projects.getByRole('row').filter({ hasText: 'network' }).getByText('Plan').waitFor();
    const card = page.getByRole('form', { name: 'Rights in the whole organization' });
    await expectElements(card.getByRole('checkbox'), 16);
    await card.getByText('Invite and remove people').waitFor();
    const save = card.getByRole('button', { name: 'Save' });
    await expectDisabled(save);
    await card.getByRole('checkbox', { name: 'Manage membership' }).check();
    expect(await inspectScreen(page, 'team-access')).toEqual([]);
    await save.click();
    await page.getByText('Saved.').waitFor();
    expect((await readTeam(platform))['organization-access']).toMatchObject({ 'manage-membership': true });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The former settings are back.').waitFor();
    expect((await readTeam(platform))['organization-access']).toMatchObject({ 'manage-membership': false });
    await projects.getByRole('button', { name: 'Change the access to network' }).click();
    const dialog = page.getByRole('dialog', { name: 'platform: access to network' });
    await dialog.getByRole('combobox', { name: 'Access to the workspace network' }).click();
    await dialog.getByRole('option', { name: 'read' }).click();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await projects.getByRole('row').filter({ hasText: 'network' }).getByText('Read').waitFor();
    await page.context().close();
  });

  it('is shown to members, with the people who may change it', async () => {
    const page = await open(member, `${platform}/access`, 'platform');
    const card = page.getByRole('form', { name: 'Rights in the whole organization' });
    await card.getByText('An owner of the organization can change these rights').waitFor();
    await expectDisabled(card.getByRole('checkbox', { name: 'Manage membership' }));
    await expectElements(card.getByRole('button', { name: 'Save' }), 0);
    await page.getByText('To see this, you need a team that may read all projects').waitFor();
    expect(await inspectScreen(page, 'team-access-member')).toEqual([]);
    await page.context().close();
  });

  it('is everything for owners, and needs organization access for people who manage teams', async () => {
    const page = await open(owner, `${owners}/access`, 'owners');
    await page.getByText('Nobody can change what the team may do.').waitFor();
    await expectElements(page.getByRole('checkbox'), 0);
    await page.context().close();
    const other = await open(manager, `${platform}/access`, 'platform');
    await other.getByText('or a team that may manage teams and organization access').waitFor();
    await expectDisabled(other.getByRole('checkbox', { name: 'Manage membership' }));
    await other.context().close();
  });
});

describe('the tokens of a team', () => {
  it('are created and revoked on its screen', async () => {
    const page = await open(manager, `${platform}/tokens`, 'platform');
    await page.getByText('The team has no token yet.').waitFor();
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog', { name: 'New token of platform' });
    await dialog.getByLabel('Description').waitFor();
    await expectElements(dialog.getByRole('combobox', { name: 'Owner' }), 0);
    await dialog.getByLabel('Description').fill('Nightly');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Copy the token now').waitFor();
    const secret = (await dialog.getByRole('region', { name: 'the token' }).textContent()) ?? '';
    expectStatus(await server.as(secret).get(`/api/v2/workspaces/${network}`), 200);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('table', { name: 'Tokens of platform' }).getByText('Nightly').waitFor();
    expect(await inspectScreen(page, 'team-tokens')).toEqual([]);
    await page.getByRole('button', { name: 'Revoke Nightly of platform' }).click();
    await page.getByRole('dialog', { name: 'Revoke a token' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The team has no token yet.').waitFor();
    expectStatus(await server.as(secret).get(`/api/v2/workspaces/${network}`), 401);
    await page.context().close();
  });

  it('belong to owners, and to members if the team lets them manage tokens', async () => {
    const page = await open(manager, `${owners}/tokens`, 'owners');
    await page.getByText('You may not see the tokens of this team. You need to be an owner').waitFor();
    await page.getByText('You may not see the workload identities of this team.').waitFor();
    expect(await page.getByRole('button', { name: 'New token' }).getAttribute('aria-disabled')).toBe('true');
    expect(await inspectScreen(page, 'team-tokens-denied')).toEqual([]);
    await page.context().close();
    const own = await open(member, `${platform}/tokens`, 'platform');
    await own.getByText('The team has no token yet.').waitFor();
    await own.context().close();
  });
});

describe('the workload identities of a team', () => {
  it('are created with the job that uses them, changed, disabled and deleted', async () => {
    const page = await open(manager, `${platform}/tokens`, 'platform');
    await page.getByRole('button', { name: 'New workload identity' }).click();
    const dialog = page.getByRole('dialog', { name: 'New workload identity' });
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('app-main');
    await dialog.getByText('GitLab.com').click();
    expect(await dialog.getByRole('textbox', { name: 'Issuer' }).inputValue()).toBe('https://gitlab.com');
    await dialog.getByText('GitHub Actions').click();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Repository: needs at least one accepted value').waitFor();
    await dialog.locator('input[aria-label="Accepted values of claim 1"]').fill('acme/app');
    await page.keyboard.press('Enter');
    await dialog.locator('input[aria-label="Accepted values of claim 2"]').fill('refs/heads/main');
    await page.keyboard.press('Enter');
    expect(await inspectScreen(page, 'identity-new')).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    const use = page.getByRole('dialog', { name: 'Use app-main in a job' });
    const job = use.getByRole('region', { name: 'the job' });
    await job.waitFor();
    const [identity] = expectStatus(await server.get(`/api/v2/teams/${platform}/workload-identities`), 200).body.data;
    expect(identity.attributes.claims).toEqual({ repository: ['acme/app'], ref: ['refs/heads/main'] });
    expect(await job.innerText()).toContain(`IDENTITY: ${identity.id}`);
    expect(await inspectScreen(page, 'identity-use')).toEqual([]);
    await use.getByText('GitLab CI').click();
    await job.getByText('id_tokens:').waitFor();
    await page.keyboard.press('Escape');
    await chooseRowAction(page, 'app-main', 'Change');
    const change = page.getByRole('dialog', { name: 'Change app-main' });
    await change.getByLabel('Lifetime of tokens in minutes').fill('15');
    await change.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The workload identity app-main is saved.').waitFor();
    await chooseRowAction(page, 'app-main', 'Disable');
    await page.getByRole('dialog', { name: 'Disable app-main' }).getByRole('button', { name: 'Disable' }).click();
    const table = page.getByRole('table', { name: 'Workload identities' });
    await table.getByText('Disabled').waitFor();
    const changed = expectStatus(await server.get(`/api/v2/workload-identities/${identity.id}`), 200).body.data;
    expect(changed.attributes).toMatchObject({ ...identity.attributes, 'token-minutes': 15, enabled: false });
    expect(await inspectScreen(page, 'identities')).toEqual([]);
    await chooseRowAction(page, 'app-main', 'Delete');
    await page.getByRole('dialog', { name: 'Delete app-main' }).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There is none yet.').waitFor();
    expectStatus(await server.get(`/api/v2/workload-identities/${identity.id}`), 404);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the settings of a team', () => {
  it('are changed by people who manage teams, with each refusal at its field', async () => {
    const page = await open(manager, `${platform}/settings`, 'platform');
    const card = page.getByRole('form', { name: 'Settings' });
    await card.getByLabel('Name').fill('leads');
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Name has already been taken').waitFor();
    await card.getByLabel('Name').fill('builders');
    await card.getByRole('radio', { name: 'Its members and owners only' }).check();
    await card.getByLabel('SSO team id').fill('idp-builders');
    await card.getByRole('checkbox', { name: 'Members may manage the tokens of the team' }).uncheck();
    expect(await inspectScreen(page, 'team-settings')).toEqual([]);
    await card.getByRole('button', { name: 'Save' }).click();
    // The manager is not in the team, and cannot see secret teams.
    await page.getByRole('heading', { name: 'This team does not exist, or you have no access' }).waitFor();
    expect(await readTeam(platform)).toMatchObject({
      name: 'builders',
      visibility: 'secret',
      'sso-team-id': 'idp-builders',
      'allow-member-token-management': false,
    });
    await page.context().close();
    const restored = await open(owner, `${platform}/settings`, 'builders');
    await restored.getByText('Secret', { exact: true }).waitFor();
    await restored.getByRole('textbox', { name: 'Name' }).fill('platform');
    await restored.getByRole('radio', { name: 'Every member of the organization' }).check();
    await restored.getByLabel('SSO team id').fill('');
    await restored.getByRole('button', { name: 'Save' }).click();
    await restored.getByRole('heading', { level: 1, name: 'platform' }).waitFor();
    expect(await readTeam(platform)).toMatchObject({ visibility: 'organization', 'sso-team-id': null });
    await restored.context().close();
  });

  it('of the owners keep the name and the visibility', async () => {
    const page = await open(owner, `${owners}/settings`, 'owners');
    const card = page.getByRole('form', { name: 'Settings' });
    await expectDisabled(card.getByLabel('Name'));
    await card.getByLabel('SSO team id').fill('idp-owners');
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const reason = await page.getByRole('button', { name: 'Delete the team' }).getAttribute('aria-describedby');
    expect(await page.locator(`[id="${reason ?? ''}"]`).textContent()).toBe(
      'Nobody can delete the team that owns the organization.',
    );
    await page.context().close();
  });

  it('are shown to members and hidden from strangers', async () => {
    const page = await open(member, `${platform}/settings`, 'platform');
    const card = page.getByRole('form', { name: 'Settings' });
    await expectDisabled(card.getByLabel('Name'));
    await card.getByText('You need a team that may manage teams').waitFor();
    expect(await page.getByRole('button', { name: 'Delete the team' }).getAttribute('aria-disabled')).toBe('true');
    await expectElements(page.getByRole('link', { name: 'Notifications' }), 0);
    expect(await inspectScreen(page, 'team-settings-member')).toEqual([]);
    await page.context().close();
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const stranger = await openConsole(browser, server, { user: id, path: `/app/acme/teams/${platform}/settings` });
    await stranger.getByRole('heading', { name: 'This team does not exist, or you have no access' }).waitFor();
    expect(stranger.pageErrors).toEqual([]);
    await stranger.context().close();
  });
});

describe('the deletion of a team', () => {
  it('names what goes away, and needs the name', async () => {
    const page = await open(owner, `${platform}/settings`, 'platform');
    await page.getByRole('button', { name: 'Delete the team' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the team platform' });
    await dialog.getByText('1 member loses its access').waitFor();
    await dialog.getByText('Its access to 2 projects and workspaces ends: network, Shops.').waitFor();
    await dialog.getByText('It has no tokens.').waitFor();
    expect(await inspectScreen(page, 'team-delete')).toEqual([]);
    await expectDisabled(dialog.getByRole('button', { name: 'Delete' }));
    await dialog.getByLabel('Type platform to confirm').fill('platform');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Teams' }).waitFor();
    await page.getByRole('table', { name: 'Teams' }).getByText('leads').waitFor();
    await expectElements(page.getByRole('table', { name: 'Teams' }).getByText('platform'), 0);
    expectStatus(await server.get(`/api/v2/teams/${platform}`), 404);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
