import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, pauseRequests, expectElements } from '../support/console.js';
import { expectStatus, makeMember, makeOrganization, makeWorkspace, resource } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const makeUser = async (name: string): Promise<string> =>
  (await ensureUser(server.store, server.runtime.ids, name, false)).id;

/** Invites a person, and returns the ids of the membership and of their account. */
const invite = async (organization: string, email: string): Promise<{ readonly id: string; readonly user: string }> => {
  const path = `/api/v2/organizations/${organization}/organization-memberships`;
  const answer = await server.post(path, resource('organization-memberships', { email }));
  const { id, relationships } = expectStatus(answer, 201).body.data;
  return { id, user: relationships.user.data.id };
};

const openOrganizations = async (user: string) => {
  const page = await openConsole(browser, server, { user, path: '/app' });
  await page.getByRole('heading', { level: 1, name: 'Organizations' }).waitFor();
  return page;
};

/** Returns whether the element is completely in the window, below the head of a dialog. */
const isInWindow = async (element: ReturnType<TestPage['locator']>): Promise<boolean> => {
  const page = element.page();
  const box = await element.boundingBox();
  const head = await page.getByRole('dialog').locator('header').boundingBox();
  if (!box || !head) return false;
  return box.y >= head.y + head.height && box.y + box.height <= (page.viewportSize()?.height ?? 0);
};

describe('the organizations', () => {
  it('are listed with the number of their workspaces, and lead to them', async () => {
    const { ownersTeam } = await makeOrganization(server, 'acme');
    for (const name of ['network', 'storage']) await makeWorkspace(server, 'acme', name);
    await makeOrganization(server, 'other');
    const owner = await makeMember(server, 'acme', 'olga', [ownersTeam]);
    const page = await openOrganizations(owner.id);
    const row = page.getByRole('row').filter({ hasText: 'acme' });
    await row.getByText('Owner').waitFor();
    await row.getByRole('cell', { name: '2', exact: true }).waitFor();
    await expectElements(page.getByText('other'), 0);
    expect(await inspectScreen(page, 'organizations')).toEqual([]);
    await row.getByRole('link', { name: 'acme' }).click();
    await page.getByRole('heading', { level: 1, name: 'acme' }).waitFor();
    expect(page.url()).toBe(`${server.url}/app/acme`);
    await page.context().close();
  });

  it('appear when the person accepts their invitations, with the workspaces that a member may read', async () => {
    const { user } = await invite('acme', 'ines@people.test');
    await invite('other', 'ines@people.test');
    const page = await openOrganizations(user);
    await page.getByRole('heading', { name: 'You are in no organization yet' }).waitFor();
    const invitations = page.getByRole('region', { name: 'Invitations' });
    await invitations.getByRole('listitem').filter({ hasText: 'other' }).waitFor();
    expect(await inspectScreen(page, 'organizations-invited')).toEqual([]);
    await invitations.getByRole('button', { name: 'Accept the invitation to acme' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('You are a member of acme now.').waitFor();
    await page.locator('h1:focus').waitFor();
    const row = page.getByRole('row').filter({ hasText: 'acme' });
    await row.getByText('Member').waitFor();
    await row.getByRole('cell', { name: '0', exact: true }).waitFor();
    await expectElements(invitations.getByRole('listitem'), 1);
    await invitations.getByRole('button', { name: 'Decline the invitation to other' }).click();
    const dialog = page.getByRole('dialog', { name: 'Decline the invitation to other' });
    await dialog.getByRole('button', { name: 'Decline' }).click();
    await invitations.waitFor({ state: 'detached' });
    await page.locator('h1:focus').waitFor();
    await row.getByRole('link', { name: 'acme' }).click();
    await page.getByRole('heading', { level: 1, name: 'acme' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('stay if the person declines an invitation that was accepted in another tab', async () => {
    for (const name of ['first', 'second', 'third']) await makeOrganization(server, name);
    const { id: accepted, user } = await invite('first', 'ivan@people.test');
    const { id: withdrawn } = await invite('second', 'ivan@people.test');
    const { id: deleted } = await invite('third', 'ivan@people.test');
    const page = await openOrganizations(user);
    const invitations = page.getByRole('region', { name: 'Invitations' });
    await invitations.getByRole('listitem').nth(2).waitFor();
    const membership = `/api/v2/organization-memberships/${accepted}`;
    expectStatus(await server.post(`${membership}/actions/accept`, {}), 200);
    await invitations.getByRole('button', { name: 'Decline the invitation to first' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click();
    await page.getByText('You have accepted the invitation to first already. Nothing is declined.').waitFor();
    expect(expectStatus(await server.get(membership), 200).body.data.attributes.status).toBe('active');
    await page.getByRole('row').filter({ hasText: 'first' }).waitFor();
    expectStatus(await server.delete(`/api/v2/organization-memberships/${withdrawn}`), 204);
    await invitations.getByRole('button', { name: 'Accept the invitation to second' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('The invitation to second is not accepted. It does not exist any more').waitFor();
    await page.locator('h1:focus').waitFor();
    expectStatus(await server.delete(`/api/v2/organization-memberships/${deleted}`), 204);
    await invitations.getByRole('button', { name: 'Decline the invitation to third' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Decline' }).click();
    await page.getByText('The invitation to third does not exist any more.').waitFor();
    await invitations.waitFor({ state: 'detached' });
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('are explained to a person who has none, with the block to paste', async () => {
    const page = await openOrganizations(await makeUser('nora'));
    await page.getByRole('heading', { name: 'You are in no organization yet' }).waitFor();
    const block = page.getByRole('region', { name: 'the terraform block' });
    expect(await block.textContent()).toContain(`hostname     = "${new URL(server.url).host}"`);
    expect(await inspectScreen(page, 'organizations-empty')).toEqual([]);
    await page.context().close();
  });
});

describe('a new organization', () => {
  it('is created, and shows how to create its first workspace', async () => {
    const page = await openOrganizations(await makeUser('paul'));
    await page.getByRole('button', { name: 'New organization' }).click();
    const dialog = page.getByRole('dialog', { name: 'New organization' });
    await dialog.getByLabel('Name').fill('paul-and-co');
    await dialog.getByLabel('E-mail address').fill('paul@example.com');
    expect(await inspectScreen(page, 'organization-dialog')).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'There is no workspace yet' }).waitFor();
    expect(page.url()).toBe(`${server.url}/app/paul-and-co`);
    await page.getByText('The organization paul-and-co is created.').waitFor();
    const block = page.getByRole('region', { name: 'the terraform block' });
    expect(await block.textContent()).toContain('organization = "paul-and-co"');
    expect(await inspectScreen(page, 'workspaces-empty')).toEqual([]);
    await page.context().close();
  });

  it('is refused beside the field that is wrong, which gets the focus', async () => {
    const page = await openOrganizations(await makeUser('rita'));
    // The button at the end and the first field are not in the window together.
    await page.setViewportSize({ width: 1280, height: 260 });
    await page.getByRole('button', { name: 'New organization' }).click();
    const dialog = page.getByRole('dialog', { name: 'New organization' });
    await dialog.getByLabel('Name').fill('no spaces please');
    await dialog.getByLabel('E-mail address').fill('rita@example.com');
    const create = dialog.getByRole('button', { name: 'Create' });
    const paused = await pauseRequests(page, 'POST', '**/api/v2/organizations');
    await create.focus();
    await page.keyboard.press('Enter');
    await create.and(page.locator('[aria-disabled="true"]:focus')).waitFor();
    await page.keyboard.press('Tab');
    await dialog.locator(':focus').waitFor();
    paused.release();
    const name = dialog.getByLabel('Name');
    await name.and(page.locator('[aria-invalid="true"]:focus')).waitFor();
    expect(await isInWindow(name)).toBe(true);
    const problem = (await name.getAttribute('aria-describedby')) ?? '';
    expect(problem).not.toBe('');
    expect(await dialog.getByLabel('E-mail address').getAttribute('aria-invalid')).not.toBe('true');
    expect(page.url()).toBe(`${server.url}/app`);
    await page.context().close();
  });

  it('shows a refusal that belongs to no field, and keeps the focus', async () => {
    const page = await openOrganizations(await makeUser('rosa'));
    await page.setViewportSize({ width: 1280, height: 260 });
    await page.getByRole('button', { name: 'New organization' }).click();
    const dialog = page.getByRole('dialog', { name: 'New organization' });
    await dialog.getByLabel('Name').fill('rosa-and-co');
    await dialog.getByLabel('E-mail address').fill('rosa@example.com');
    await page.route('**/api/v2/organizations', (route) => route.abort(), { times: 1 });
    const create = dialog.getByRole('button', { name: 'Create' });
    await create.focus();
    expect(await isInWindow(dialog.getByLabel('Name'))).toBe(false);
    await page.keyboard.press('Enter');
    const refusal = dialog.getByRole('alert');
    await refusal.getByText('The server did not answer').waitFor();
    expect(await isInWindow(refusal)).toBe(true);
    await create.and(page.locator(':focus')).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
