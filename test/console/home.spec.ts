import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, expectElements } from '../support/console.js';
import { addGpgKey, makeSigner } from '../support/releases.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let reader: string;
let keyId: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  const fresh = await makeOrganization(server, 'fresh');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  const network = await makeWorkspace(server, 'acme', 'network');
  const storage = await makeWorkspace(server, 'acme', 'storage');
  expectStatus(await server.post(`/api/v2/workspaces/${network}/actions/lock`, { reason: 'Upgrade' }), 200);
  const team = await makeTeam(server, 'acme', 'readers');
  await grantWorkspaceAccess(server, team, storage, 'read');
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
  const soon = new Date(Date.now() + 3 * 24 * 60 * 60_000).toISOString();
  const token = resource('authentication-tokens', { description: 'Nightly', 'expired-at': soon });
  expectStatus(await server.post(`/api/v2/teams/${team}/authentication-tokens`, token), 201);
  // The key is of the first of January 2026.
  const age = Date.now() - Date.parse('2026-01-01T00:00:00Z');
  const signer = await makeSigner({ lifetimeSeconds: Math.round((age + 20 * 24 * 60 * 60_000) / 1_000) });
  keyId = signer.keyId;
  await addGpgKey(server, 'acme', signer);
  const invitation = resource(
    'organization-memberships',
    { email: 'olga@people.test' },
    {
      teams: { data: [{ type: 'teams', id: fresh.ownersTeam }] },
    },
  );
  const answer = await server.post('/api/v2/organizations/fresh/organization-memberships', invitation);
  const { id } = expectStatus(answer, 201).body.data;
  expectStatus(await server.post(`/api/v2/organization-memberships/${id}/actions/accept`), 200);
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = async (user: string, organization = 'acme'): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/${organization}` });
  await page.getByRole('heading', { level: 1, name: organization }).waitFor();
  return page;
};

describe('the first screen of an organization', () => {
  it('shows locks, waiting runs, the last changes and tokens that end soon', async () => {
    const page = await open(owner);
    const locks = page.getByRole('region', { name: 'Locks, the oldest first' });
    await locks.getByText('admin: Upgrade').waitFor();
    await page.getByRole('region', { name: 'Tokens that end within two weeks' }).getByText('Nightly').waitFor();
    await page.getByRole('region', { name: 'Runs that wait for you' }).getByText('No run').waitFor();
    await page.getByRole('region', { name: 'Changed last' }).getByRole('link', { name: 'storage' }).waitFor();
    expect(await inspectScreen(page, 'home')).toEqual([]);
    await locks.getByRole('link', { name: 'All locked workspaces' }).click();
    await page.getByRole('row').filter({ hasText: 'network' }).waitFor();
    expect(new URL(page.url()).search).toBe('?locked=true');
    await page.goBack();
    await locks.getByRole('link', { name: 'network' }).click();
    await page.getByRole('heading', { level: 1, name: 'network' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await page.getByRole('heading', { level: 1, name: 'acme' }).waitFor();
    await page.context().close();
  });

  it('counts the workspaces that changed since midnight in the time zone of the reader', async () => {
    for (const [timezoneId, hour] of [
      ['Pacific/Kiritimati', 'T10:00:00.000Z'],
      ['Pacific/Niue', 'T11:00:00.000Z'],
    ] as const) {
      const page = await open(owner);
      const devtools = await page.context().newCDPSession(page);
      await devtools.send('Emulation.setTimezoneOverride', { timezoneId });
      // Requests of the page before it had the time zone end here.
      await page.goto('about:blank');
      const request = page.waitForRequest((each) => each.url().includes('changed-since'));
      await page.goto(`${server.url}/app/acme`);
      const since = new URL((await request).url()).searchParams.get('filter[changed-since]') ?? '';
      expect(since.endsWith(hour)).toBe(true);
      const note = page.getByRole('region', { name: 'Changed last' }).getByText(/changed today\.$/);
      const midnight = encodeURIComponent(since);
      const { body } = await server.get(`/api/v2/organizations/acme/workspaces?filter[changed-since]=${midnight}`);
      const count = body.meta.pagination['total-count'] as number;
      await note.filter({ hasText: count === 0 ? 'No workspace' : `${count} workspaces` }).waitFor();
      await page.context().close();
    }
  });

  it('shows keys that end soon, and to site administrators whether followers keep up', async () => {
    const page = await open(owner);
    await page.getByRole('region', { name: 'GPG keys that end within two months' }).getByText(keyId).waitFor();
    await expectElements(page.getByRole('region', { name: 'Followers of the site' }), 0);
    await page.context().close();
    const { id } = await ensureUser(server.store, server.runtime.ids, 'root', true);
    const admin = await open(id);
    const followers = admin.getByRole('region', { name: 'Followers of the site' });
    await followers.getByText(/All \d+ followers run\./).waitFor();
    expect(await inspectScreen(admin, 'home-administrator')).toEqual([]);
    await followers.getByRole('link', { name: 'Status of the site' }).click();
    await admin.getByRole('heading', { level: 1, name: 'Site' }).waitFor();
    await admin.context().close();
  });

  it('shows a member only what the member may read', async () => {
    const page = await open(reader);
    await page.getByRole('region', { name: 'Changed last' }).getByRole('link', { name: 'storage' }).waitFor();
    await page.getByText('No workspace that you may read is locked.').waitFor();
    await expectElements(page.getByText('network'), 0);
    const button = page.getByRole('region', { name: 'Projects' }).getByRole('button', { name: 'New project' });
    await button.focus();
    await page.getByRole('tooltip', { name: /You need a team that may manage projects/ }).waitFor();
    expect(await inspectScreen(page, 'home-reader')).toEqual([]);
    await page.context().close();
  });

  it('describes the next step if there is no workspace, and hides an organization of others', async () => {
    const page = await open(owner, 'fresh');
    await page.getByRole('heading', { name: 'There is no workspace yet' }).waitFor();
    await page.getByRole('button', { name: 'Create a workspace' }).waitFor();
    const projects = page.getByRole('region', { name: 'Projects' });
    await projects.getByRole('link', { name: 'Default Project' }).waitFor();
    expect(await inspectScreen(page, 'home-empty')).toEqual([]);
    await page.context().close();
    const newcomer = await open((await makeMember(server, 'fresh', 'nils')).id, 'fresh');
    await newcomer.getByRole('heading', { name: 'You may read no workspace' }).waitFor();
    await newcomer.context().close();
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const other = await open(id);
    await other.getByRole('heading', { name: 'This organization does not exist, or you have no access' }).waitFor();
    await other.context().close();
  });

  it('creates a project, and then the first workspace in it', async () => {
    const page = await open(owner, 'fresh');
    await page.getByRole('button', { name: 'New project' }).click();
    const dialog = page.getByRole('dialog', { name: 'New project' });
    await dialog.getByLabel('Name').fill('Default Project');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Name has already been taken').waitFor();
    expect(await inspectScreen(page, 'project-new')).toEqual([]);
    await dialog.getByLabel('Name').fill('Shops');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'No workspace in Shops' }).waitFor();
    await page.getByRole('button', { name: 'Create a workspace' }).click();
    const next = page.getByRole('dialog', { name: 'New workspace' });
    expect(await next.getByRole('combobox', { name: 'Project' }).inputValue()).toBe('Shops');
    await next.getByLabel('Name').fill('checkout');
    await next.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'checkout' }).waitFor();
    await page.goto(`${server.url}/app/fresh`);
    await page.getByRole('listitem').filter({ hasText: 'Shops' }).getByText('1 workspace').waitFor();
    await page.context().close();
  });
});
