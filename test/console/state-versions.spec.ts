import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { expectDisabled, inspectScreen, openConsole } from '../support/console.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
} from '../support/seeds.js';
import { newStateVersion, stateFile, type TestStateFile } from '../support/state-file.js';
import { startTestServer, type TestServer } from '../support/server.js';

const OLD_SECRET = 'the-first-password';
const NEW_SECRET = 'the-second-password';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let reader: string;
let writer: string;
let workspace: string;
let destination: string;

const upload = async (state: TestStateFile, id = workspace): Promise<void> => {
  expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/lock`), 200);
  const body = newStateVersion(state, { inline: true });
  expectStatus(await server.post(`/api/v2/workspaces/${id}/state-versions`, body), 201);
  expectStatus(await server.post(`/api/v2/workspaces/${id}/actions/unlock`), 200);
};

const outputsWith = (cidr: string, password: string): object => ({
  cidr: { value: cidr, type: 'string' },
  password: { value: password, type: 'string', sensitive: true },
});

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  workspace = await makeWorkspace(server, 'acme', 'network');
  await makeWorkspace(server, 'acme', 'fresh');
  const first = stateFile({ outputs: outputsWith('10.0.0.0/16', OLD_SECRET), names: ['vpc', 'gateway'] });
  await upload(first);
  const outputs = outputsWith('10.1.0.0/16', NEW_SECRET);
  await upload(stateFile({ serial: 2, lineage: first.lineage, outputs, names: ['vpc', 'subnet'] }));
  destination = await makeWorkspace(server, 'acme', 'moved');
  const writers = await makeTeam(server, 'acme', 'writers');
  await grantWorkspaceAccess(server, writers, destination, 'write');
  writer = (await makeMember(server, 'acme', 'wendy', [writers])).id;
  const team = await makeTeam(server, 'acme', 'readers');
  await grantWorkspaceAccess(server, team, workspace, 'read');
  await grantWorkspaceAccess(server, team, destination, 'read');
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const openVersions = (user: string, name = 'network'): Promise<TestPage> =>
  openConsole(browser, server, { user, path: `/app/acme/workspaces/${name}/states` });

describe('the state versions of a workspace', () => {
  it('show what a version changed, without sensitive values', async () => {
    const page = await openVersions(owner);
    await page.getByRole('button', { name: 'Changes of serial 2' }).click();
    const comparison = page.getByRole('region', { name: 'From serial 1 to serial 2' });
    await comparison.getByText('Resources: 1 added, 1 changed, 1 removed. Outputs: 2 changed.').waitFor();
    await comparison.getByText('terraform_data.subnet').waitFor();
    await comparison.getByText('terraform_data.gateway').waitFor();
    const outputs = comparison.getByRole('region', { name: 'Changed outputs' });
    expect(await outputs.locator('del').allTextContents()).toEqual(['"10.0.0.0/16"']);
    expect(await outputs.locator('ins').allTextContents()).toEqual(['"10.1.0.0/16"']);
    await outputs.getByText('Sensitive value: changed').waitFor();
    for (const secret of [OLD_SECRET, NEW_SECRET]) expect(await page.content()).not.toContain(secret);
    expect(await inspectScreen(page, 'state-versions')).toEqual([]);
    await page.context().close();
  });

  it('are compared in the order that the person chooses, which the address keeps', async () => {
    const page = await openVersions(owner);
    await page.getByRole('radio', { name: 'Compare from serial 2' }).check();
    await page.getByRole('radio', { name: 'Compare to serial 1' }).check();
    await page.getByRole('region', { name: 'From serial 2 to serial 1' }).getByText('Resources: 1 added').waitFor();
    await page.reload();
    await page.getByRole('region', { name: 'From serial 2 to serial 1' }).getByText('Resources: 1 added').waitFor();
    await page.goto(`${server.url}/app/acme/workspaces/network/states?from=sv-x&to=sv-y`);
    const missing = page.getByRole('region', { name: 'From sv-x to sv-y' });
    await missing.getByText('This state version does not exist, or you have no access').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are shown to a member who may read them', async () => {
    const page = await openVersions(reader);
    await page.getByRole('row').filter({ hasText: 'Current' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are explained for a workspace without a state', async () => {
    const page = await openVersions(owner, 'fresh');
    await page.getByRole('heading', { name: 'There is no state version yet' }).waitFor();
    expect(await inspectScreen(page, 'state-versions-empty')).toEqual([]);
    await page.context().close();
  });

  it('are not shown to a person without access', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const page = await openVersions(id);
    await page.getByRole('heading', { name: 'This workspace does not exist, or you have no access' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the state of a workspace', () => {
  const lineage = 'a-lineage';
  const other = stateFile({ serial: 8, lineage: 'another-lineage' });
  const fileOf = ({ bytes }: TestStateFile) => ({ name: 'old.tfstate', mimeType: 'application/json', buffer: bytes });
  const choose = (page: TestPage, state: TestStateFile) =>
    page.getByLabel('A state file', { exact: true }).setInputFiles(fileOf(state));
  const openUpload = async (page: TestPage) => {
    await page.getByRole('button', { name: 'Upload a state' }).click();
    const dialog = page.getByRole('dialog', { name: 'Upload a state to moved' });
    await dialog.getByText('Drop a file here').waitFor();
    return dialog;
  };
  const readCurrent = async () =>
    expectStatus(await server.get(`/api/v2/workspaces/${destination}/current-state-version`), 200).body.data;
  const isLocked = async (): Promise<boolean> =>
    expectStatus(await server.get(`/api/v2/workspaces/${destination}`), 200).body.data.attributes.locked;

  it('is uploaded by a member with write access, who leaves the workspace unlocked', async () => {
    const page = await openConsole(browser, server, { user: writer, path: '/app/acme/workspaces/moved/state' });
    const dialog = await openUpload(page);
    await expectDisabled(dialog.getByRole('button', { name: 'Upload' }));
    const noState = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no state') };
    await page.getByLabel('A state file', { exact: true }).setInputFiles(noState);
    await dialog.getByText('notes.txt is not a state.').waitFor();
    // More than one block of 64 bytes, and a rest.
    const names = Array.from({ length: 50 }, (_, index) => `resource_${index}`);
    const state = stateFile({ serial: 7, lineage, names });
    await choose(page, state);
    await dialog.getByText(lineage).waitFor();
    expect(await inspectScreen(page, 'state-upload')).toEqual([]);
    await dialog.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('Serial 7 is the current state of moved.').waitFor();
    await page.getByText('terraform_data.resource_49').waitFor();
    expect((await readCurrent()).attributes).toMatchObject({ serial: 7 });
    expect(await isLocked()).toBe(false);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('of another lineage is refused in the dialog, and accepted after a choice', async () => {
    const page = await openConsole(browser, server, { user: writer, path: '/app/acme/workspaces/moved/states' });
    const dialog = await openUpload(page);
    await choose(page, other);
    await dialog.getByRole('button', { name: 'Upload' }).click();
    await dialog.getByText("The state's lineage another-lineage is not that of this workspace").waitFor();
    expect(await isLocked()).toBe(false);
    expect(await inspectScreen(page, 'state-upload-refused')).toEqual([]);
    await dialog.getByLabel('Accept another lineage, or a serial that is not higher').check();
    await dialog.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('Serial 8 is the current state of moved.').waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: /^8\s*Current/ })
      .waitFor();
    await page.context().close();
  });

  it('is downloaded as it was uploaded', async () => {
    const page = await openConsole(browser, server, { user: writer, path: '/app/acme/workspaces/moved/states' });
    await page.getByRole('row').filter({ hasText: 'Current' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      (async () => {
        await page.getByRole('button', { name: 'More actions for serial 8' }).click();
        await page.getByRole('menuitem', { name: 'Download serial 8' }).click();
      })(),
    ]);
    expect(download.suggestedFilename()).toBe('moved-8.tfstate');
    expect(await readFile(await download.path())).toEqual(other.bytes);
    await page.context().close();
  });

  it('of an earlier version becomes current again', async () => {
    const page = await openConsole(browser, server, { user: writer, path: '/app/acme/workspaces/moved/states' });
    await page.getByRole('button', { name: 'More actions for serial 7' }).click();
    await page.getByRole('menuitem', { name: 'Roll back to serial 7' }).click();
    const dialog = page.getByRole('dialog', { name: 'Roll back to serial 7' });
    await dialog.getByText('The state of serial 7 becomes the current state of moved, as serial 9.').waitFor();
    expect(await inspectScreen(page, 'state-roll-back')).toEqual([]);
    await dialog.getByRole('button', { name: 'Roll back' }).click();
    await page.getByText('The state of serial 7 is current again.').waitFor();
    expect((await readCurrent()).attributes).toMatchObject({ serial: 9, 'resources-processed': true });
    expect(await isLocked()).toBe(false);
    expect(await inspectScreen(page, 'state-versions-actions')).toEqual([]);
    await page.context().close();
  });

  it('loses its file after a request of an admin, and gets it back', async () => {
    const page = await openConsole(browser, server, { user: owner, path: '/app/acme/workspaces/moved/states' });
    const row = page.getByRole('row').filter({ has: page.getByRole('radio', { name: 'Compare from serial 7' }) });
    await page.getByRole('button', { name: 'More actions for serial 7' }).click();
    await page.getByRole('menuitem', { name: 'Delete the file of serial 7' }).click();
    await row.getByText('File deleted, can be restored').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await row.getByText('Complete').waitFor();
    await page.getByRole('button', { name: 'More actions for serial 7' }).click();
    await page.getByRole('menuitem', { name: 'Delete the file of serial 7' }).click();
    await page.getByRole('button', { name: 'More actions for serial 7' }).click();
    await page.getByRole('menuitem', { name: 'Delete the file for good, of serial 7' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the file of serial 7 for good' });
    await dialog.getByRole('button', { name: 'Delete for good' }).click();
    await row.getByText('File deleted', { exact: true }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('cannot be changed while another person holds the lock', async () => {
    expectStatus(await server.post(`/api/v2/workspaces/${destination}/actions/lock`), 200);
    const page = await openConsole(browser, server, { user: writer, path: '/app/acme/workspaces/moved/states' });
    const button = page.getByRole('button', { name: 'Upload a state' });
    await button.focus();
    await page.getByRole('tooltip', { name: /The workspace is locked by admin/ }).waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    expectStatus(await server.post(`/api/v2/workspaces/${destination}/actions/unlock`), 200);
    await page.context().close();
  });

  it('cannot be changed by a member who may only read', async () => {
    const page = await openConsole(browser, server, { user: reader, path: '/app/acme/workspaces/moved/states' });
    const button = page.getByRole('button', { name: 'Upload a state' });
    await button.focus();
    await page.getByRole('tooltip', { name: /You need a team with write or admin access/ }).waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await page.context().close();
  });
});
