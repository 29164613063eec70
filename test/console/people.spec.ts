import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { AdjustableClock } from '../support/clocks.js';
import { inspectScreen, openConsole, startSessionIn, expectElements } from '../support/console.js';
import { waitForFollowers } from '../support/event-log.js';
import { expectStatus, makeMember, makeOrganization, makeTeam, resource } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

const clock = new AdjustableClock();
let server: TestServer;
let browser: TestBrowser;
let owner: string;
let member: string;
let platform: string;
/** When the member was last active. */
let lastActive: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([
    startTestServer({ clock, forBrowsers: true, followers: true }),
    openBrowser(),
  ]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  platform = await makeTeam(server, 'acme', 'platform', {
    visibility: 'organization',
    'allow-member-token-management': false,
  });
  const rita = await makeMember(server, 'acme', 'rita', [platform]);
  member = rita.id;
  expectStatus(await rita.get(`/api/v2/teams/${platform}/relationships/organization-memberships`), 200);
  await waitForFollowers(server.store, 'member_activities');
  const { body } = expectStatus(await server.get(`/api/v2/organization-memberships/${rita.membership}`), 200);
  lastActive = body.data.attributes['last-active-at'];
  await makeMember(server, 'acme', 'paul', [platform]);
  const soon = new Date(Date.now() + 3 * 24 * 60 * 60_000).toISOString();
  const token = resource('authentication-tokens', { description: 'Pipeline of the shop', 'expired-at': soon });
  expectStatus(await server.post(`/api/v2/teams/${platform}/authentication-tokens`, token), 201);
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

describe('the people of an organization', () => {
  it('are listed, invited, found and removed', async () => {
    const page = await open(owner, 'people', 'People');
    const table = page.getByRole('table', { name: 'Members' });
    const memberRow = table.getByRole('row').filter({ hasText: 'rita@people.test' });
    await memberRow.getByRole('cell', { name: 'platform', exact: true }).waitFor();
    await table.getByRole('columnheader', { name: 'Last active' }).waitFor();
    const active = memberRow.locator('time').last();
    expect(await active.getAttribute('datetime')).toBe(lastActive);
    expect(await active.innerText()).toMatch(/^(?:just now|\d+ minutes? ago)\s\(.+ \d{4} .+\)$/);
    await table.getByRole('row').filter({ hasText: 'paul@people.test' }).getByText('Never').waitFor();
    expect(await inspectScreen(page, 'people')).toEqual([]);
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite a person' });
    await dialog.getByLabel('E-mail address').fill('ines@people.test');
    await dialog.getByRole('combobox', { name: 'Teams' }).click();
    await dialog.getByRole('option', { name: 'platform' }).click();
    await page.keyboard.press('Tab');
    expect(await inspectScreen(page, 'people-invite')).toEqual([]);
    await dialog.getByRole('button', { name: 'Invite' }).click();
    await table.getByRole('row').filter({ hasText: 'ines@people.test' }).getByText('Invited').waitFor();
    await page.getByLabel('Search people by name or address').fill('ines');
    await page.waitForURL('**/people?name=ines');
    await page.getByRole('button', { name: 'Remove ines@people.test' }).click();
    const confirmation = page.getByRole('dialog', { name: 'Remove ines@people.test' });
    expect(await inspectScreen(page, 'people-remove')).toEqual([]);
    await confirmation.getByRole('button', { name: 'Withdraw the invitation' }).click();
    await page.getByRole('heading', { name: 'Nobody matches' }).waitFor();
    await page.context().close();
  });

  it('cannot be changed by a member without the right', async () => {
    const page = await open(member, 'people?status=active', 'People');
    await page
      .getByRole('table', { name: 'Members' })
      .getByRole('cell', { name: 'olga@people.test', exact: true })
      .waitFor();
    await expectElements(page.getByRole('button', { name: 'More actions for olga' }), 0);
    await expectElements(page.getByRole('columnheader', { name: 'Last active' }), 0);
    expect(await page.getByRole('button', { name: 'Invite' }).getAttribute('aria-disabled')).toBe('true');
    await page.context().close();
  });

  it('are hidden from people without access', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const page = await open(id, 'people', 'People');
    await page.getByRole('heading', { name: 'This organization does not exist, or you have no access' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the tokens of an organization', () => {
  it('are created, shown once, and revoked after a confirmation', async () => {
    const page = await open(owner, 'people/tokens', 'Tokens');
    const table = page.getByRole('table', { name: 'Tokens of teams' });
    await table.getByRole('row').filter({ hasText: 'Pipeline of the shop' }).getByText('in 3 days').waitFor();
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog', { name: 'New token' });
    await dialog.getByRole('combobox', { name: 'Owner' }).click();
    await dialog.getByRole('option', { name: 'platform' }).click();
    await dialog.getByLabel('Description').fill('Nightly');
    expect(await inspectScreen(page, 'token-new')).toEqual([]);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Copy the token now').waitFor();
    const secret = (await dialog.getByRole('region', { name: 'the token' }).textContent()) ?? '';
    // The token is shown once, so only its own button closes the dialog.
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 400);
    expect(await dialog.getByRole('button').allInnerTexts()).toContain('I have copied it');
    await expectElements(dialog.getByRole('button', { name: 'Close' }), 0);
    expect((await server.as(secret).get('/api/v2/account/details')).status).toBe(200);
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await table.getByText('Nightly').waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(await inspectScreen(page, 'tokens')).toEqual([]);
    await page.getByRole('button', { name: 'Revoke Nightly of platform' }).click();
    const confirmation = page.getByRole('dialog', { name: 'Revoke a token' });
    expect(await inspectScreen(page, 'token-revoke')).toEqual([]);
    await confirmation.getByRole('button', { name: 'Revoke' }).click();
    await table.getByText('Nightly').waitFor({ state: 'detached' });
    expect((await server.as(secret).get('/api/v2/account/details')).status).toBe(401);
    await page.context().close();
  });

  it('need a recent sign-in, after which the dialog creates the token that was typed', async () => {
    const page = await open(owner, 'people/tokens', 'Tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog', { name: 'New token' });
    await dialog.getByRole('combobox', { name: 'Owner' }).click();
    await dialog.getByRole('option', { name: 'platform' }).click();
    await dialog.getByLabel('Description').fill('Weekly');
    clock.offsetMs += 16 * 60_000;
    const create = dialog.getByRole('button', { name: 'Create' });
    await create.click();
    const confirmation = page.getByRole('dialog', { name: 'Sign in again to continue' });
    const link = confirmation.getByRole('link', { name: 'Sign in' });
    expect(await link.getAttribute('href')).toBe('/sign-in?confirm=1&return_to=%2Fapp');
    expect(await inspectScreen(page, 'sign-in-again')).toEqual([]);
    await confirmation.getByRole('button', { name: 'Cancel' }).click();
    await dialog.getByText('This needs a sign-in of the last 15 minutes.').waitFor();
    await create.click();
    const resume = confirmation.getByRole('button', { name: 'Continue' });
    await resume.click();
    await confirmation.getByText('You have not signed in again yet.').waitFor();
    await startSessionIn(page, server, member);
    await resume.click();
    await confirmation.getByText('Another person is signed in.').waitFor();
    await startSessionIn(page, server, owner);
    await resume.click();
    await confirmation.waitFor({ state: 'detached' });
    await dialog.getByText('Copy the token now').waitFor();
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('table', { name: 'Tokens of teams' }).getByText('Weekly').waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('of a member without the right are none, and the page leads to the own tokens and sessions', async () => {
    const page = await open(member, 'people/tokens', 'Tokens');
    await page.getByRole('heading', { name: 'There is no token of a team that you may manage' }).waitFor();
    expect(await page.getByRole('button', { name: 'New token' }).getAttribute('aria-disabled')).toBe('true');
    expect(await inspectScreen(page, 'tokens-member')).toEqual([]);
    await page.getByRole('link', { name: 'Your tokens' }).click();
    await page.getByRole('heading', { level: 1, name: 'Your tokens' }).waitFor();
    await page.context().close();
  });
});
