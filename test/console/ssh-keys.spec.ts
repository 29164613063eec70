import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { chooseRowAction, expectDisabled, inspectScreen, openConsole } from '../support/console.js';
import { expectStatus, makeMember, makeOrganization, makeTeam, makeWorkspace, resource } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

const SECRET = 'b3BlbnNzaC1rZXktdjE=';
const PRIVATE_KEY = `-----BEGIN OPENSSH PRIVATE KEY-----\n${SECRET}\n-----END OPENSSH PRIVATE KEY-----\n`;

let server: TestServer;
let browser: TestBrowser;
let manager: string;
let reader: string;
let member: string;
let network: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  await makeOrganization(server, 'acme');
  const rights = { 'manage-vcs-settings': true, 'read-workspaces': true };
  const operators = await makeTeam(server, 'acme', 'operators', { 'organization-access': rights });
  const workers = await makeTeam(server, 'acme', 'workers', { 'organization-access': { 'manage-workspaces': true } });
  manager = (await makeMember(server, 'acme', 'max', [operators])).id;
  reader = (await makeMember(server, 'acme', 'rita', [workers])).id;
  member = (await makeMember(server, 'acme', 'mia')).id;
  network = await makeWorkspace(server, 'acme', 'network');
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (user: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: '/app/acme/settings/ssh-keys' });
  await page.getByRole('heading', { level: 1, name: 'SSH keys' }).waitFor();
  return page;
};

describe('the SSH keys of an organization', () => {
  it('are added, and nobody can read them again', async () => {
    const page = await open(manager);
    await page.getByRole('heading', { name: 'There is no SSH key yet' }).waitFor();
    await page.getByRole('button', { name: 'Add an SSH key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add an SSH key' });
    await dialog.getByLabel('Name').fill('modules');
    await dialog.getByLabel('Private key').fill('ssh-ed25519 AAAA of-the-public-key');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText('Value is a public key; it must be the private one').waitFor();
    expect(await inspectScreen(page, 'ssh-key-new')).toEqual([]);
    await dialog.getByLabel('Private key').fill(PRIVATE_KEY);
    await dialog.getByRole('button', { name: 'Add' }).click();
    const table = page.getByRole('table', { name: 'SSH keys' });
    await table.getByText('modules').waitFor();
    expect(await page.content()).not.toContain(SECRET);
    expect(await inspectScreen(page, 'ssh-keys')).toEqual([]);
    await page.context().close();
  });

  it('are renamed, and deleted with the workspaces that use them in view', async () => {
    const [key] = expectStatus(await server.get('/api/v2/organizations/acme/ssh-keys'), 200).body.data;
    const path = `/api/v2/workspaces/${network}/relationships/ssh-key`;
    expectStatus(await server.patch(path, resource('workspaces', { id: key.id })), 200);
    const page = await open(manager);
    const table = page.getByRole('table', { name: 'SSH keys' });
    await page.getByRole('button', { name: 'Change modules' }).click();
    const change = page.getByRole('dialog', { name: 'Change modules' });
    await expectDisabled(change.getByRole('button', { name: 'Save' }));
    await change.getByLabel('Name').fill('git');
    await change.getByRole('button', { name: 'Save' }).click();
    await table.getByText('git', { exact: true }).waitFor();
    await chooseRowAction(page, 'git', 'Delete');
    const dialog = page.getByRole('dialog', { name: 'Delete git' });
    await dialog.getByText('1 workspace uses it and has no key then: network.').waitFor();
    expect(await inspectScreen(page, 'ssh-key-delete')).toEqual([]);
    await dialog.getByLabel('Type git to confirm').fill('git');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'There is no SSH key yet' }).waitFor();
    const { body } = expectStatus(await server.get(`/api/v2/workspaces/${network}`), 200);
    expect(body.data.relationships['ssh-key'].data).toBeNull();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are shown to people who manage workspaces, and hidden from other members', async () => {
    const body = resource('ssh-keys', { name: 'shown', value: PRIVATE_KEY });
    expectStatus(await server.post('/api/v2/organizations/acme/ssh-keys', body), 201);
    const page = await open(reader);
    await page.getByRole('table', { name: 'SSH keys' }).getByText('shown').waitFor();
    expect(await page.getByRole('button', { name: 'Add an SSH key' }).getAttribute('aria-disabled')).toBe('true');
    expect(await page.getByRole('button', { name: 'Change shown' }).getAttribute('aria-disabled')).toBe('true');
    await page.context().close();
    const other = await open(member);
    await other.getByRole('heading', { name: 'You may not see the SSH keys' }).waitFor();
    expect(await inspectScreen(other, 'ssh-keys-hidden')).toEqual([]);
    expect(other.pageErrors).toEqual([]);
    await other.context().close();
  });
});
