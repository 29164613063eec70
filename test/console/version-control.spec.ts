import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCommitsJobs } from '#runs/commits';
import { GitHosts } from '#vcs/git-hosts';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { chooseRowAction, expectDisabled, inspectScreen, openConsole } from '../support/console.js';
import { createConnectionTokens, REACHES_GIT_HOSTS } from '../support/git-host.js';
import { INSTALL_GITEA_TIMEOUT_MS, startGitea, type Gitea } from '../support/gitea.js';
import { runJobs } from '../support/scheduled-jobs.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeProject,
  makeRemotePool,
  makeTeam,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let gitea: Gitea;
let server: TestServer;
let browser: TestBrowser;
let repository: string;
let workspace: string;
const people: Record<'manager' | 'owner' | 'member', string> = { manager: '', owner: '', member: '' };

beforeAll(async () => {
  [gitea, server, browser] = await Promise.all([
    startGitea(),
    startTestServer({ forBrowsers: true, followers: true, env: REACHES_GIT_HOSTS }),
    openBrowser(),
  ]);
  repository = await gitea.makeRepository('network', { 'main.tf': 'terraform {}\n' });
  await gitea.makeRepository('shop', { 'main.tf': 'terraform {}\n' });
  const { ownersTeam } = await makeOrganization(server, 'acme');
  const operators = await makeTeam(server, 'acme', 'operators', {
    'organization-access': { 'manage-vcs-settings': true, 'read-projects': true },
  });
  people.owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  people.manager = (await makeMember(server, 'acme', 'max', [operators])).id;
  people.member = (await makeMember(server, 'acme', 'mia')).id;
  await makeRemotePool(server, 'acme', 'edge');
  await makeProject(server, 'acme', 'Shops');
  workspace = await makeWorkspace(server, 'acme', 'network');
}, INSTALL_GITEA_TIMEOUT_MS);

afterAll(async () => {
  await browser.close();
  await server.close();
  await gitea.remove();
});

const open = async (user: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: '/app/acme/settings/version-control' });
  await page.getByRole('heading', { level: 1, name: 'Version control' }).waitFor();
  return page;
};

const listConnections = async (): Promise<any[]> =>
  expectStatus(await server.get('/api/v2/organizations/acme/oauth-clients'), 200).body.data;

/** Signs in to Gitea, which the page shows, and lets the application use the account. */
const authorizeOnGitea = async (page: TestPage): Promise<void> => {
  await page.locator('input[name="user_name"]').fill(gitea.user);
  await page.locator('input[name="password"]').fill(gitea.password);
  await page.locator('input[name="password"]').press('Enter');
  await page.locator('#authorize-app').click();
};

const poll = async (): Promise<void> => {
  const { runtime, store } = server;
  const jobs = createCommitsJobs({ ...runtime, ...runtime.settings, store });
  await runJobs(jobs, 'repository_commits', 'commit_fetches');
};

describe('the connections of an organization', () => {
  it('are made step by step, after the host has confirmed the token', async () => {
    const page = await open(people.manager);
    await page.getByRole('heading', { name: 'No Git host is connected yet' }).waitFor();
    expect(await inspectScreen(page, 'version-control-empty')).toEqual([]);
    await page.getByRole('button', { name: 'Connect a Git host' }).click();
    const host = page.getByRole('dialog', { name: 'Connect a Git host' });
    expect(await host.getByLabel('Address of the API').inputValue()).toBe('https://api.github.com');
    await host.getByRole('combobox', { name: 'Kind of Git host' }).click();
    await page.getByRole('option', { name: 'Gitea' }).click();
    await host.getByRole('textbox', { name: 'Address', exact: true }).fill(`${gitea.url}/`);
    expect(await host.getByLabel('Address of the API').inputValue()).toBe(gitea.apiUrl);
    await host.getByLabel('Address of the API').fill(`${gitea.url}/api/v9`);
    expect(await inspectScreen(page, 'version-control-host')).toEqual([]);
    await host.getByRole('button', { name: 'Next' }).click();
    const token = page.getByRole('dialog', { name: 'Connect Gitea' });
    const guide = token.getByRole('link', { name: 'page of access tokens' });
    expect(await guide.getAttribute('href')).toBe(`${gitea.url}/user/settings/applications`);
    await token.getByLabel('Access token').fill(gitea.token);
    await token.getByRole('button', { name: 'Connect' }).click();
    // The host is wrong, which the first step shows.
    await host.getByText('127.0.0.1').waitFor();
    await host.getByLabel('Address of the API').fill(gitea.apiUrl);
    await host.getByRole('button', { name: 'Next' }).click();
    await token.getByLabel('Access token').fill('wrong');
    await token.getByRole('button', { name: 'Connect' }).click();
    await token.getByText('refused the token').waitFor();
    expect(await inspectScreen(page, 'version-control-token')).toEqual([]);
    await token.getByLabel('Access token').fill(gitea.token);
    await token.getByLabel('Name').fill('git');
    await token.getByRole('button', { name: 'Connect' }).click();
    await page.getByRole('table', { name: 'Connections' }).getByText('git', { exact: true }).waitFor();
    expect(await page.content()).not.toContain(gitea.token);
    expect(await inspectScreen(page, 'version-control')).toEqual([]);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are limited to projects, and keep their token while it is not replaced', async () => {
    const page = await open(people.manager);
    await page.getByRole('button', { name: 'Change git' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change git' });
    await expectDisabled(dialog.getByRole('button', { name: 'Save' }));
    await dialog.getByLabel('Name').fill('gitea');
    await dialog.getByRole('radio', { name: 'Workspaces of these projects only' }).check();
    await dialog.getByRole('combobox', { name: 'Projects' }).click();
    await dialog.getByRole('option', { name: 'Shops' }).click();
    expect(await inspectScreen(page, 'version-control-change')).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('table', { name: 'Connections' }).getByText('Workspaces of 1 project').waitFor();
    const [connection] = await listConnections();
    expect(connection.attributes).toMatchObject({ name: 'gitea', 'organization-scoped': false });
    expect(connection.relationships['oauth-tokens'].data).toHaveLength(1);
    const everywhere = resource('oauth-clients', { 'organization-scoped': true });
    expectStatus(await server.patch(`/api/v2/oauth-clients/${connection.id}`, everywhere), 200);
    await page.getByRole('table', { name: 'Connections' }).getByText('All workspaces').waitFor();
    await page.context().close();
  });

  it('are authorized on the Git host with an OAuth application', async () => {
    const page = await open(people.manager);
    await page.getByRole('button', { name: 'Connect a Git host' }).click();
    const host = page.getByRole('dialog', { name: 'Connect a Git host' });
    await host.getByRole('combobox', { name: 'Kind of Git host' }).click();
    await page.getByRole('option', { name: 'Gitea' }).click();
    await host.getByRole('textbox', { name: 'Address', exact: true }).fill(gitea.url);
    await host.getByRole('button', { name: 'Next' }).click();
    const dialog = page.getByRole('dialog', { name: 'Connect Gitea' });
    await dialog.getByRole('radio', { name: 'An OAuth application' }).check();
    const callback = `${server.url}/auth/vcs/callback/${new URL(gitea.url).host}`;
    await dialog.getByText(callback, { exact: true }).waitFor();
    expect(await inspectScreen(page, 'version-control-application')).toEqual([]);
    const application = await gitea.makeApplication(callback);
    await dialog.getByLabel('Client id').fill(application.key);
    await dialog.getByLabel('Client secret').fill(application.secret);
    await dialog.getByLabel('Name').fill('by application');
    await dialog.getByRole('button', { name: 'Continue on Gitea' }).click();
    await authorizeOnGitea(page);
    const row = page.getByRole('table', { name: 'Connections' }).getByRole('row', { name: 'by application' });
    await row.getByText('Stored').waitFor();
    await gitea.call('DELETE', `/user/applications/oauth2/${application.id}`);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('take another OAuth application of the host, and say when the host refuses their token', async () => {
    const page = await open(people.manager);
    const row = page.getByRole('table', { name: 'Connections' }).getByRole('row', { name: 'by application' });
    const client = (await listConnections()).find(({ attributes }) => attributes.name === 'by application');
    const [{ id: token }] = client.relationships['oauth-tokens'].data;
    const tokens = createConnectionTokens(server, new GitHosts(['127.0.0.1']));
    const before = await tokens.open(token);
    const application = await gitea.makeApplication(client.attributes['callback-url']);
    await page.getByRole('button', { name: 'Change by application', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Change by application' });
    expect(await dialog.getByLabel('Client id').inputValue()).toBe(client.attributes.key);
    await dialog.getByLabel('Client id').fill(application.key);
    await dialog.getByLabel('New client secret').fill(application.secret);
    expect(await inspectScreen(page, 'version-control-change-application')).toEqual([]);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    await chooseRowAction(page, 'by application', 'Authorize');
    await authorizeOnGitea(page);
    await row.getByText('Stored').waitFor();
    expect(await tokens.open(token)).not.toBe(before);
    await gitea.call('DELETE', `/user/applications/oauth2/${application.id}`);
    await tokens.recordAnswer(token, (await tokens.open(token)) ?? '', false);
    await row.getByText('Authorize the connection again.').waitFor();
    expect(await inspectScreen(page, 'version-control-refused')).toEqual([]);
    expectStatus(await server.delete(`/api/v2/oauth-clients/${client.id}`), 204);
    await row.waitFor({ state: 'detached' });
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are hidden from other members', async () => {
    const page = await open(people.member);
    await page.getByRole('heading', { name: 'You may not see the connections' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the repository of a workspace', () => {
  it('is found by its name, and its commits start runs that show them', async () => {
    const page = await openConsole(browser, server, {
      user: people.owner,
      path: '/app/acme/workspaces/network/settings#repository',
    });
    const card = page.getByRole('region', { name: 'Repository and triggers', exact: true });
    await card.getByRole('combobox', { name: 'Connection' }).click();
    await page.getByRole('option', { name: 'gitea' }).click();
    await card.getByRole('combobox', { name: 'Repository' }).fill('netw');
    await page.getByRole('option', { name: 'shop' }).waitFor({ state: 'detached' });
    await page.getByRole('option', { name: repository }).click();
    await card.getByLabel('Regular expression of tags').fill('(');
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('regular expression').first().waitFor();
    await card.getByLabel('Regular expression of tags').fill('');
    await card.getByLabel('Trigger patterns').fill('/modules/**/*.tf\n\n *.tf ');
    await card.getByLabel('Queue all runs').check();
    await card.getByRole('button', { name: 'Preview commits' }).click();
    const commits = card.getByRole('list', { name: 'Newest commits' });
    await commits.getByRole('link', { name: 'Add files' }).waitFor();
    await commits.getByText('Run', { exact: true }).waitFor();
    await card.scrollIntoViewIfNeeded();
    expect(await inspectScreen(page, 'workspace-repository')).toEqual([]);
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { attributes } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data;
    expect(attributes).toMatchObject({
      'vcs-repo': { identifier: repository },
      'trigger-patterns': ['/modules/**/*.tf', '*.tf'],
      'queue-all-runs': true,
    });
    await poll();
    const [run] = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/runs`), 200).body.data;
    await page.goto(`${server.url}/app/acme/workspaces/network/runs/${run.id}`);
    const commit = page.getByRole('region', { name: 'Commit', exact: true });
    await commit.getByText('main', { exact: true }).waitFor();
    await commit.getByText('Add files').waitFor();
    expect(await commit.getByRole('link').getAttribute('href')).toContain(`${gitea.url}/${repository}/commit/`);
    expect(await inspectScreen(page, 'run-commit')).toEqual([]);
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('is removed with one choice', async () => {
    const page = await openConsole(browser, server, {
      user: people.owner,
      path: '/app/acme/workspaces/network/settings#repository',
    });
    const card = page.getByRole('region', { name: 'Repository and triggers', exact: true });
    await card.getByRole('combobox', { name: 'Connection' }).click();
    await page.getByRole('option', { name: 'No repository' }).click();
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { attributes } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200).body.data;
    expect(attributes['vcs-repo']).toBeNull();
    await page.context().close();
  });
});

describe('a connection that is not needed any more', () => {
  it('is deleted after its name is typed', async () => {
    const page = await open(people.manager);
    await chooseRowAction(page, 'gitea', 'Delete');
    const dialog = page.getByRole('dialog', { name: 'Delete gitea' });
    expect(await inspectScreen(page, 'version-control-delete')).toEqual([]);
    await dialog.getByLabel('Type gitea to confirm').fill('gitea');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No Git host is connected yet' }).waitFor();
    expect(await listConnections()).toEqual([]);
    await page.context().close();
  });
});
