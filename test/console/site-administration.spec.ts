import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { createServiceKey } from '../../libs/identity/identity-providers/saml/certificates.crypto.js';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, expectElements } from '../support/console.js';
import {
  expectStatus,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeRun,
  makeWorkspace,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let admin: string;
let owner: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  await makeOrganization(server, 'globex');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  admin = (await ensureUser(server.store, server.runtime.ids, 'root', true)).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (user: string, path: string, title: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/~site/${path}` });
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  return page;
};

/** Chooses an action from the menu of a row. */
const choose = async (page: TestPage, name: string, action: string) => {
  await page.getByRole('button', { name: `More actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: action }).click();
};

describe('the organizations of the site', () => {
  it('are found, and get another feature set with an undo', async () => {
    const page = await open(admin, 'organizations', 'Organizations');
    const table = page.getByRole('table', { name: 'Organizations' });
    await table.getByRole('row').filter({ hasText: 'acme' }).getByText('olga').waitFor();
    expect(await inspectScreen(page, 'site-organizations')).toEqual([]);
    await page.getByLabel('Search organizations by name or address').fill('glob');
    await page.waitForURL('**/organizations?name=glob');
    await table.getByText('acme').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Feature set of globex' }).click();
    const dialog = page.getByRole('dialog', { name: 'Feature set of globex' });
    await dialog.getByRole('combobox', { name: 'Feature set' }).click();
    await dialog.getByRole('option', { name: 'Free' }).click();
    expect(await inspectScreen(page, 'site-feature-set')).toEqual([]);
    await dialog.getByRole('button', { name: 'Change' }).click();
    await table.getByText('Free').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await table.getByText('Everything').waitFor();
    const { body } = expectStatus(await server.get('/api/v2/admin/organizations/globex'), 200);
    expect(body.data.relationships['feature-set'].data.id).toBe('fs-everything');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the workspaces of the site', () => {
  it('are found by organization and by their current run, and deleted after their name was typed', async () => {
    const network = await makeWorkspace(server, 'acme', 'network');
    await makeWorkspace(server, 'globex', 'mill');
    await makeConfigurationVersion(server, network);
    const run = await makeRun(server, network);
    const page = await open(admin, 'workspaces', 'Workspaces');
    const table = page.getByRole('table', { name: 'Workspaces' });
    await table.getByRole('row').filter({ hasText: 'mill' }).getByText('No run').waitFor();
    expect(await inspectScreen(page, 'site-workspaces')).toEqual([]);
    await page.getByText('In progress', { exact: true }).first().click();
    await page.waitForURL('**/workspaces?runs=active');
    await table.getByText('mill').waitFor({ state: 'detached' });
    await table.getByText('network').waitFor();
    await page.getByText('All', { exact: true }).first().click();
    await page.getByLabel('Search workspaces by name, id or organization').fill('ACME');
    await page.waitForURL('**/workspaces?name=ACME');
    await table.getByText('mill').waitFor({ state: 'detached' });
    await choose(page, 'network', 'Delete');
    const dialog = page.getByRole('dialog', { name: 'Delete network of acme' });
    expect(await inspectScreen(page, 'site-workspace-delete')).toEqual([]);
    await dialog.getByRole('textbox').fill('network');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No workspace matches' }).waitFor();
    expectStatus(await server.get(`/api/v2/runs/${run}`), 404);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('an organization of the site', () => {
  it('is deleted after its name was typed', async () => {
    await makeOrganization(server, 'obsolete');
    const page = await open(admin, 'organizations?name=obsolete', 'Organizations');
    await choose(page, 'obsolete', 'Delete');
    const dialog = page.getByRole('dialog', { name: 'Delete obsolete' });
    await dialog.getByText('Nobody can restore the organization').waitFor();
    expect(await inspectScreen(page, 'site-organization-delete')).toEqual([]);
    await dialog.getByRole('textbox').fill('obsolete');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No organization matches' }).waitFor();
    expectStatus(await server.get('/api/v2/organizations/obsolete'), 404);
    await page.context().close();
  });
});

describe('the identity providers of the site', () => {
  it('are added, show their addresses, are changed, and are deleted after their name was typed', async () => {
    const page = await open(admin, 'identity-providers', 'Identity providers');
    await page.getByRole('heading', { name: 'There is no identity provider' }).waitFor();
    await page.getByRole('button', { name: 'New provider' }).click();
    const dialog = page.getByRole('dialog', { name: 'New identity provider' });
    await dialog.getByRole('textbox', { name: 'Name' }).first().fill('Acme');
    await dialog.getByLabel('Issuer').fill('http://id.example.com');
    await dialog.getByLabel('Client ID').fill('cadastre');
    await dialog.getByRole('textbox', { name: 'Client secret' }).fill('a secret of the client');
    await dialog.getByLabel('Allowed domains').fill('example.com\nexample.org');
    expect(await inspectScreen(page, 'site-provider-new')).toEqual([]);
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText('Issuer must be https://').waitFor();
    await dialog.getByLabel('Issuer').fill('https://id.example.com');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.waitFor({ state: 'detached' });
    const [provider] = expectStatus(await server.get('/api/v2/admin/identity-providers'), 200).body.data;
    expect(provider.attributes).toMatchObject({
      name: 'Acme',
      'has-client-secret': true,
      'allowed-domains': ['example.com', 'example.org'],
      enabled: false,
    });
    expect(await inspectScreen(page, 'site-providers')).toEqual([]);
    await page.getByRole('button', { name: 'Addresses of Acme' }).click();
    await page.getByText(provider.attributes['callback-url'] as string).waitFor();
    expect(await inspectScreen(page, 'site-provider-addresses')).toEqual([]);
    await page.keyboard.press('Escape');
    await choose(page, 'Acme', 'Edit');
    const edit = page.getByRole('dialog', { name: 'Edit Acme' });
    await edit.getByLabel('The first sign-in of a person creates an account').check();
    await edit.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: 'Created' }).waitFor();
    const changed = expectStatus(await server.get(`/api/v2/admin/identity-providers/${provider.id}`), 200).body.data;
    expect(changed.attributes).toMatchObject({ enabled: false, 'creates-users': true, 'has-client-secret': true });
    await choose(page, 'Acme', 'Delete');
    const deletion = page.getByRole('dialog', { name: 'Delete Acme' });
    await deletion.getByLabel('Type Acme to confirm').fill('Acme');
    await deletion.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'There is no identity provider' }).waitFor();
    expect(await page.content()).not.toContain('a secret of the client');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('a provider with SAML', () => {
  it('is added, shows its addresses, is changed, enabled, disabled and deleted', async () => {
    const { certificate } = await createServiceKey(new Date());
    const page = await open(admin, 'identity-providers', 'Identity providers');
    await page.getByRole('button', { name: 'New provider' }).click();
    const dialog = page.getByRole('dialog', { name: 'New identity provider' });
    await dialog.getByText('SAML 2.0').click();
    await dialog.getByRole('textbox', { name: 'Name' }).first().fill('Okta');
    await dialog.getByLabel('Address of the metadata').fill('http://id.example.com/metadata');
    expect(await inspectScreen(page, 'site-provider-saml')).toEqual([]);
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText('metadata-url: must be https://').first().waitFor();
    await dialog.getByLabel('Address of the metadata').fill('');
    await dialog.getByLabel('Issuer').fill('urn:okta');
    await dialog.getByLabel('Sign-in URL').fill('https://id.example.com/sso');
    await dialog.getByLabel('Certificates').fill(certificate);
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.waitFor({ state: 'detached' });
    const read = async () => expectStatus(await server.get('/api/v2/admin/identity-providers'), 200).body.data[0];
    const { attributes } = await read();
    expect(attributes).toMatchObject({ protocol: 'saml', enabled: false, 'groups-claim': 'MemberOf' });
    await page.getByRole('button', { name: 'Addresses of Okta' }).click();
    await page
      .getByText(attributes['metadata-url'] as string)
      .first()
      .waitFor();
    await page.getByText(attributes['callback-url'] as string).waitFor();
    await page.keyboard.press('Escape');
    await choose(page, 'Okta', 'Enable');
    await page.getByText('Okta is enabled.').waitFor();
    expect((await read()).attributes.enabled).toBe(true);
    await choose(page, 'Okta', 'Disable');
    await page.getByText('Okta is disabled.').waitFor();
    await choose(page, 'Okta', 'Edit');
    const edit = page.getByRole('dialog', { name: 'Edit Okta' });
    await edit.getByLabel('The provider has verified all e-mail addresses').check();
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.waitFor({ state: 'detached' });
    expect((await read()).attributes).toMatchObject({ 'proves-emails': true, enabled: false, issuer: 'urn:okta' });
    await choose(page, 'Okta', 'Delete');
    const deletion = page.getByRole('dialog', { name: 'Delete Okta' });
    await deletion.getByLabel('Type Okta to confirm').fill('Okta');
    await deletion.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'There is no identity provider' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the tokens for SCIM', () => {
  it('are created, shown once and revoked', async () => {
    const page = await open(admin, 'scim', 'SCIM');
    await page.getByRole('button', { name: 'New SCIM token' }).click();
    const dialog = page.getByRole('dialog', { name: 'New SCIM token' });
    await dialog.getByLabel('Description').fill('Entra ID');
    expect(await inspectScreen(page, 'site-scim-new')).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    const secret = (await dialog.getByRole('region', { name: 'the token' }).textContent()) ?? '';
    expectStatus(await server.as(secret).get('/scim/v2/Users'), 200);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    const row = page
      .getByRole('table', { name: 'Tokens without a provider' })
      .getByRole('row')
      .filter({ hasText: 'Entra' });
    await row.waitFor();
    expect(await inspectScreen(page, 'site-scim')).toEqual([]);
    await page.getByRole('button', { name: 'Revoke Entra ID' }).click();
    await page.getByRole('dialog', { name: 'Revoke Entra ID' }).getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    expectStatus(await server.as(secret).get('/scim/v2/Users'), 401);
    await page.context().close();
  });
});

describe('an owner of an organization', () => {
  it.each([
    ['organizations', 'Organizations'],
    ['identity-providers', 'Identity providers'],
    ['scim', 'SCIM'],
    ['executors', 'Executors'],
    ['tool-versions', 'Tool versions'],
  ])('sees nothing of the screen %s', async (path, title) => {
    const page = await open(owner, path, title);
    await page.getByRole('heading', { name: 'This screen is for site administrators' }).waitFor();
    await expectElements(page.getByRole('table'), 0);
    await page.context().close();
  });
});
