import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { chooseRowAction, inspectScreen, openConsole } from '../support/console.js';
import {
  expectStatus,
  makeConfigurationVersion,
  makeOrganization,
  makeRun,
  makeToolVersion,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

const REMOTE = { 'execution-mode': 'remote' };

let server: TestServer;
let browser: TestBrowser;
let admin: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  admin = (await ensureUser(server.store, server.runtime.ids, 'root', true)).id;
  for (const name of ['acme', 'globex']) await makeOrganization(server, name);
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (path: string, title: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user: admin, path: `/app/~site/${path}` });
  await page.getByRole('heading', { level: 1, name: title }).waitFor();
  return page;
};

describe('the executors of the site', () => {
  it('get a pool and a token, register, and are listed with what they do and what waits', async () => {
    const page = await open('executors', 'Executors');
    await page.getByText('There is no pool yet.').waitFor();
    await page.getByText('No executor works on a run.').waitFor();
    expect(await inspectScreen(page, 'site-executors-empty')).toEqual([]);
    await page.getByRole('button', { name: 'New pool' }).click();
    const creation = page.getByRole('dialog', { name: 'New pool of the site' });
    await creation.getByRole('textbox', { name: 'Name' }).fill('machines');
    await creation.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'machines' }).waitFor();
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog', { name: 'New token of machines' });
    await dialog.getByLabel('Description').fill('rack 1');
    await dialog.getByRole('button', { name: 'Create' }).click();
    const secret = (await dialog.getByRole('region', { name: 'the token' }).textContent()) ?? '';
    await dialog.getByText(`cadastre executor --server ${server.url}`).waitFor();
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    expect(await page.content()).not.toContain(secret);

    const executor = server.as(secret);
    const facts = { version: '0.3.0', capacity: 4, phases: ['plan', 'apply'] };
    const attributes = { name: 'builder-1', 'protocol-version': '1.0', ...facts };
    const { id } = expectStatus(await executor.post('/api/v2/agents', resource('agents', attributes)), 201).body.data;
    const workspaces = await Promise.all([
      makeWorkspace(server, 'acme', 'network', REMOTE),
      makeWorkspace(server, 'acme', 'shop', REMOTE),
      makeWorkspace(server, 'globex', 'mill', REMOTE),
    ]);
    const runs = [];
    for (const workspace of workspaces) {
      await makeConfigurationVersion(server, workspace);
      runs.push(await makeRun(server, workspace, { message: 'Replace a disk' }));
    }
    const claimed = expectStatus(await executor.post(`/api/v2/agents/${id}/actions/claim`), 200).body.data;
    expect(runs).toContain(claimed.id);

    await page.reload();
    const agents = page.getByRole('table', { name: 'Agents' });
    const row = agents.getByRole('row').filter({ hasText: 'builder-1' });
    await row.getByText('4, plans and applies').waitFor();
    await row.getByText('0.3.0').waitFor();
    await row.getByText('Plan of').getByRole('link').waitFor();
    expect(await inspectScreen(page, 'site-pool')).toEqual([]);
    await page.getByRole('link', { name: 'All pools of the site' }).click();
    const running = page.getByRole('table', { name: 'Running now' });
    await running.getByRole('link', { name: 'Replace a disk' }).waitFor();
    const waiting = page.getByRole('table', { name: 'Waiting for an executor' });
    await waiting
      .getByRole('link', { name: 'globex' })
      .or(waiting.getByRole('link', { name: 'acme' }))
      .first()
      .waitFor();
    const counts = await waiting.getByRole('cell').filter({ hasText: /run/ }).allInnerTexts();
    expect(counts.reduce((sum, text) => sum + Number.parseInt(text, 10), 0)).toBe(2);
    expect(await inspectScreen(page, 'site-executors')).toEqual([]);
    await running.getByRole('link', { name: 'Replace a disk' }).click();
    await page.waitForURL(`**/runs/${claimed.id as string}`);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('stop when their token is revoked or their pool is deleted, after a confirmation', async () => {
    const { data } = expectStatus(await server.get('/api/v2/admin/agent-pools'), 200).body;
    const page = await open(`executors/${data[0].id as string}`, 'machines');
    await page.getByRole('button', { name: 'Revoke rack 1 of machines' }).click();
    await page.getByRole('dialog', { name: 'Revoke a token' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The pool has no token yet.').waitFor();
    await page.getByRole('button', { name: 'Delete the pool' }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete the pool machines' });
    await dialog.getByLabel('Type machines to confirm').fill('machines');
    expect(await inspectScreen(page, 'site-pool-delete')).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('There is no pool yet.').waitFor();
    expect(expectStatus(await server.get('/api/v2/admin/agent-pools'), 200).body.data).toEqual([]);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the tool versions of the site', () => {
  const readVersion = async (version: string) =>
    expectStatus(await server.get(`/api/v2/admin/terraform-versions?filter[version]=${version}`), 200).body.data[0]
      ?.attributes;

  it('are added with an address and a checksum, and a refusal is beside its field', async () => {
    const page = await open('tool-versions', 'Tool versions');
    const table = page.getByRole('table', { name: 'Versions' });
    await table.getByRole('row').nth(3).waitFor();
    expect(await inspectScreen(page, 'site-tool-versions')).toEqual([]);
    await page.getByRole('button', { name: 'Add a version' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a version' });
    await dialog.getByLabel('Version').fill('1.11.4-acme.1');
    await dialog.getByLabel('Address of the archive').fill('ftp://tools.example.com/terraform.zip');
    await dialog.getByLabel('SHA-256 checksum').fill('abc');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText(/must be an http or https URL/).waitFor();
    await dialog.getByText(/must be a SHA-256 checksum/).waitFor();
    expect(await inspectScreen(page, 'site-tool-version-refused')).toEqual([]);
    await dialog.getByLabel('Address of the archive').fill('https://tools.example.com/terraform.zip');
    await dialog.getByLabel('SHA-256 checksum').fill('ab'.repeat(32));
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await readVersion('1.11.4-acme.1')).toMatchObject({
      url: 'https://tools.example.com/terraform.zip',
      sha: 'ab'.repeat(32),
      official: false,
      enabled: true,
    });
    await page.getByRole('button', { name: 'Add a version' }).click();
    await dialog.getByLabel('Version').fill('1.11.4-acme.1');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText(/already|exists|taken/).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are those of OPA after a choice of the program', async () => {
    const page = await open('tool-versions', 'Tool versions');
    await page.getByRole('radiogroup', { name: 'Program' }).getByText('OPA', { exact: true }).click();
    const table = page.getByRole('table', { name: 'Versions' });
    await table.getByRole('row').filter({ hasText: '1.19.1' }).waitFor();
    expect(await inspectScreen(page, 'site-opa-versions')).toEqual([]);
    await page.getByRole('button', { name: 'Add a version' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a version' });
    await dialog.getByLabel('Version').fill('9.0.0-acme.1');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText(/needs at least one archive/).waitFor();
    await dialog.getByLabel('Address of the program').fill('https://tools.example.com/opa');
    await dialog.getByLabel('SHA-256 checksum').fill('ab'.repeat(32));
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.waitFor({ state: 'detached' });
    await table.getByRole('row').filter({ hasText: '9.0.0-acme.1' }).waitFor();
    await chooseRowAction(page, '9.0.0-acme.1', 'Delete');
    await page
      .getByRole('dialog', { name: 'Delete 9.0.0-acme.1' })
      .getByRole('button', { name: 'Delete', exact: true })
      .click();
    await table.getByRole('row').filter({ hasText: '9.0.0-acme.1' }).waitFor({ state: 'detached' });
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are disabled, deprecated with a reason, changed and deleted', async () => {
    const version = '1.11.5-acme.2';
    await makeToolVersion(server, version);
    const page = await open(`tool-versions?version=${version}`, 'Tool versions');
    const row = page.getByRole('table', { name: 'Versions' }).getByRole('row').filter({ hasText: version });
    await row.waitFor();
    const confirm = (title: string, action: string) =>
      page.getByRole('dialog', { name: title }).getByRole('button', { name: action, exact: true }).click();
    await chooseRowAction(page, version, 'Disable');
    await confirm(`Disable ${version}`, 'Disable');
    await row.getByText('Disabled').waitFor();
    await chooseRowAction(page, version, 'Deprecate');
    const deprecation = page.getByRole('dialog', { name: `Deprecate ${version}` });
    await deprecation.getByLabel('Reason').fill('It leaks memory.');
    await confirm(`Deprecate ${version}`, 'Deprecate');
    await row.getByText('It leaks memory.').waitFor();
    await page.getByRole('button', { name: `Change ${version}` }).click();
    const change = page.getByRole('dialog', { name: `Change ${version}` });
    await change.getByLabel('Beta').check();
    await change.getByRole('button', { name: 'Save' }).click();
    await row.getByText('Beta').waitFor();
    expect(await readVersion(version)).toMatchObject({
      enabled: false,
      deprecated: true,
      'deprecated-reason': 'It leaks memory.',
      beta: true,
      url: null,
    });
    await chooseRowAction(page, version, 'End the deprecation');
    await confirm(`End the deprecation of ${version}`, 'End the deprecation');
    await row.getByText('Deprecated').waitFor({ state: 'detached' });
    await chooseRowAction(page, version, 'Delete');
    await confirm(`Delete ${version}`, 'Delete');
    await page.getByRole('heading', { name: 'No version matches' }).waitFor();
    expect(await readVersion(version)).toBeUndefined();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
