import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { expectDisabled, inspectScreen, openConsole, expectElements } from '../support/console.js';
import {
  expectStatus,
  makeAgentPool,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let member: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  const team = await makeTeam(server, 'acme', 'web', { visibility: 'organization' });
  member = (await makeMember(server, 'acme', 'rita', [team])).id;
  await makeAgentPool(server, 'acme', 'machines');
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const openIn = async (user: string, organization: string, path: string, heading: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/${organization}/${path}` });
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  return page;
};

const open = (user: string, path: string, heading: string): Promise<TestPage> =>
  openIn(user, 'acme', `settings/${path}`, heading);

const readOrganization = async (name = 'acme') => (await server.get(`/api/v2/organizations/${name}`)).body.data;

describe('the settings of an organization', () => {
  it('change the address, the execution and the access, with an undo', async () => {
    const page = await openIn(owner, 'acme', 'settings', 'General');
    const contact = page.getByRole('form', { name: 'Contact' });
    await contact.getByLabel('E-mail address').fill('platform@acme.test');
    expect(await inspectScreen(page, 'organization-general')).toEqual([]);
    await contact.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await readOrganization()).attributes.email).toBe('platform@acme.test');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('The former settings are back.').waitFor();
    expect((await readOrganization()).attributes.email).not.toBe('platform@acme.test');
    const execution = page.getByRole('form', { name: 'Execution of runs' });
    await execution.getByRole('combobox', { name: 'Default execution mode' }).click();
    await page.getByRole('option', { name: 'agent' }).click();
    await execution.getByRole('combobox', { name: 'Default agent pool' }).click();
    await page.getByRole('option', { name: 'machines' }).click();
    await execution.getByRole('switch', { name: 'Executors of the site' }).uncheck({ force: true });
    await execution.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await readOrganization()).attributes).toMatchObject({
      'default-execution-mode': 'agent',
      'site-executors-enabled': false,
    });
    const access = page.getByRole('form', { name: 'Access' });
    await access.getByLabel('Minutes after which a session has no access').fill('720');
    const limited = page.waitForResponse((response) => response.request().method() === 'PATCH' && response.ok());
    await access.getByRole('button', { name: 'Save' }).click();
    await limited;
    expect((await readOrganization()).attributes['session-remember']).toBe(720);
    const commits = page.getByRole('form', { name: 'Plans of commits' });
    await commits.getByRole('switch', { name: 'Workspaces without a plan' }).check({ force: true });
    expect(await commits.getByRole('switch', { name: 'A commit has one status' }).isChecked()).toBe(false);
    const changed = page.waitForResponse((response) => response.request().method() === 'PATCH' && response.ok());
    await commits.getByRole('button', { name: 'Save' }).click();
    await changed;
    expect((await readOrganization()).attributes).toMatchObject({
      'aggregated-commit-status-enabled': false,
      'send-passing-statuses-for-untriggered-speculative-plans': true,
    });
    const stored = page.getByRole('form', { name: 'Stored for clients' });
    await stored.getByLabel('Minutes after which an idle session ends').fill('60');
    await stored.getByRole('switch', { name: 'Cost estimation' }).check({ force: true });
    // The button is also disabled before the server has answered.
    const saved = page.waitForResponse((response) => response.request().method() === 'PATCH' && response.ok());
    await stored.getByRole('button', { name: 'Save' }).click();
    await saved;
    expect((await readOrganization()).attributes).toMatchObject({
      'session-timeout': 60,
      'cost-estimation-enabled': true,
    });
    await page.context().close();
  });

  it('rename the organization, and open it under the new name', async () => {
    const { ownersTeam } = await makeOrganization(server, 'former');
    const { id } = await makeMember(server, 'former', 'fred', [ownersTeam]);
    const page = await openIn(id, 'former', 'settings/general', 'General');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Rename former' });
    await dialog.getByLabel('New name').fill('acme');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    expect(await inspectScreen(page, 'organization-rename')).toEqual([]);
    await dialog.getByLabel('New name').fill('latter');
    await dialog.getByRole('button', { name: 'Rename' }).click();
    await page.waitForURL('**/app/latter/settings/general');
    await page.getByText('The organization former is now latter.').waitFor();
    expect((await readOrganization('latter')).id).toBe('latter');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('delete the organization after its name was typed, and say what is lost', async () => {
    const { ownersTeam } = await makeOrganization(server, 'closing');
    const { id } = await makeMember(server, 'closing', 'carl', [ownersTeam]);
    await makeWorkspace(server, 'closing', 'network');
    const page = await openIn(id, 'closing', 'settings/general', 'General');
    await page.getByRole('button', { name: 'Delete the organization' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete closing' });
    await dialog.getByText('1 workspace with their states, variables and runs,').waitFor();
    await expectDisabled(dialog.getByRole('button', { name: 'Delete' }));
    await dialog.getByLabel('Type closing to confirm').fill('closing');
    expect(await inspectScreen(page, 'organization-delete')).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Organizations' }).waitFor();
    expectStatus(await server.get('/api/v2/organizations/closing'), 404);
    await page.context().close();
  });

  it('delete old states after some days', async () => {
    const page = await open(owner, 'data-retention', 'Data retention');
    await page.getByRole('radio', { name: 'Delete states after some days' }).check();
    await page.getByLabel('Delete states that are older than').fill('30');
    expect(await inspectScreen(page, 'data-retention')).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const path = '/api/v2/organizations/acme/relationships/data-retention-policy';
    const { body } = expectStatus(await server.get(path), 200);
    expect(body.data.attributes).toEqual({ 'delete-older-than-n-days': 30 });
    await page.getByLabel('Delete states that are older than').fill('0');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('input:invalid').waitFor();
    const after = expectStatus(await server.get(path), 200);
    expect(after.body.data.attributes).toEqual({ 'delete-older-than-n-days': 30 });
    await page.context().close();
  });

  it('limit how long tokens live', async () => {
    const page = await open(owner, 'token-lifetimes', 'Token lifetimes');
    await page.getByRole('switch', { name: 'Limit how long tokens live' }).check({ force: true });
    await page.getByLabel('Tokens of teams').fill('90');
    expect(await inspectScreen(page, 'token-lifetimes')).toEqual([]);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    expect((await readOrganization()).attributes['max-ttl-enabled']).toBe(true);
    const { body } = expectStatus(await server.get('/api/v2/organizations/acme/token-ttl-policies'), 200);
    const limits = body.data.map((each: { attributes: Record<string, unknown> }) => each.attributes);
    expect(limits).toContainEqual(expect.objectContaining({ 'token-type': 'team', 'max-ttl-ms': 7_776_000_000 }));
    await page.context().close();
  });

  it('keep the audit trail for some days, test it, stop it and start it', async () => {
    const page = await open(owner, 'audit', 'Audit trail');
    await page.getByLabel('Keep entries for').fill('7');
    await page.getByRole('button', { name: 'Save' }).click();
    const shorten = page.getByRole('dialog', { name: 'Delete older entries' });
    expect(await inspectScreen(page, 'audit-shorten')).toEqual([]);
    await shorten.getByRole('button', { name: 'Delete older entries' }).click();
    await page.getByText('Saved.').waitFor();
    const settings = expectStatus(await server.get('/api/v2/organizations/acme/audit-trail-settings'), 200);
    expect(settings.body.data.attributes).toEqual({ 'retention-days': 7 });
    await page.getByRole('button', { name: 'Test the recording' }).click();
    await page.getByText('The recording works').waitFor();
    expect(await inspectScreen(page, 'audit-settings')).toEqual([]);
    await page.getByRole('button', { name: 'Stop the recording' }).click();
    await page.getByRole('dialog', { name: 'Stop the recording' }).getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Start the recording' }).click();
    await page.getByText('The audit trail records again.').waitFor();
    await page.context().close();
  });

  it('list the services that report facts', async () => {
    const page = await open(owner, 'fact-sources', 'Fact sources');
    await page.getByRole('button', { name: 'Add a source' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a fact source' });
    await dialog.getByLabel('Source').fill('https://policies.example');
    await dialog.getByLabel('Description').fill('Policy checks');
    expect(await inspectScreen(page, 'fact-source-new')).toEqual([]);
    await dialog.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('row', { name: /policies\.example Policy checks/ }).waitFor();
    expect(await inspectScreen(page, 'fact-sources')).toEqual([]);
    await page.getByRole('button', { name: 'Remove https://policies.example' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('heading', { name: 'No service is listed' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('row', { name: /policies\.example/ }).waitFor();
    await page.context().close();
  });

  it('show a member the values, and a stranger nothing', async () => {
    const page = await openIn(member, 'acme', 'settings', 'General');
    const contact = page.getByRole('form', { name: 'Contact' });
    await expectDisabled(contact.getByLabel('E-mail address'));
    await contact.getByText('Only owners of the organization may change this.').waitFor();
    await expectElements(page.getByRole('button', { name: 'Delete the organization' }), 0);
    await expectElements(page.getByRole('link', { name: 'Token lifetimes' }), 0);
    expect(await inspectScreen(page, 'organization-member')).toEqual([]);
    await page.context().close();
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const stranger = await open(id, 'general', 'General');
    await stranger.getByRole('heading', { name: /This organization does not exist/ }).waitFor();
    expect(stranger.pageErrors).toEqual([]);
    await stranger.context().close();
  });
});

describe('providers of the public registry', () => {
  it('are listed and removed in the registry', async () => {
    const page = await openIn(owner, 'acme', 'registry', 'Registry');
    await page.getByRole('button', { name: 'List a public provider' }).click();
    const dialog = page.getByRole('dialog', { name: 'List a public provider' });
    await dialog.getByLabel('Namespace').fill('hashicorp');
    await dialog.getByPlaceholder('random').fill('random');
    expect(await inspectScreen(page, 'public-provider-new')).toEqual([]);
    await dialog.getByRole('button', { name: 'List', exact: true }).click();
    await page.getByRole('row', { name: /hashicorp\/random Public/ }).waitFor();
    await page.getByRole('button', { name: 'Remove hashicorp/random' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('row', { name: /hashicorp\/random/ }).waitFor({ state: 'detached' });
    await page.context().close();
  });
});
