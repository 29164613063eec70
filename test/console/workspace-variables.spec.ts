import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import {
  chooseRowAction,
  expectDisabled,
  pauseRequests,
  inspectScreen,
  openConsole,
  startSessionIn,
  expectElements,
} from '../support/console.js';
import {
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeTeam,
  makeWorkspace,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { makeSet, makeVariable, patchVariableBody } from '../support/variables.js';

const SECRET = 'the-secret-of-the-cloud';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let reader: string;
let workspace: string;
let fresh: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  workspace = await makeWorkspace(server, 'acme', 'network');
  fresh = await makeWorkspace(server, 'acme', 'fresh');
  await makeVariable(server, `/api/v2/workspaces/${workspace}/vars`, { description: 'Where the networks are' });
  await makeVariable(server, `/api/v2/workspaces/${workspace}/vars`, { key: 'token', value: SECRET, sensitive: true });
  await makeVariable(server, `/api/v2/workspaces/${workspace}/vars`, {
    key: `a_${'very_long_key_that_no_line_can_hold_'.repeat(3)}`,
    value: `"${'x'.repeat(300)}"`,
  });
  const targets = { workspaces: { data: [{ type: 'workspaces', id: workspace }] } };
  const defaults = await makeSet(server, 'acme', 'Defaults', {}, targets);
  const rules = await makeSet(server, 'acme', 'Rules', { priority: true }, targets);
  for (const [set, value] of [
    [defaults, 'us'],
    [rules, 'ch'],
  ] as const)
    await makeVariable(server, `/api/v2/varsets/${set.id}/relationships/vars`, { value });
  const team = await makeTeam(server, 'acme', 'readers');
  await grantWorkspaceAccess(server, team, workspace, 'read');
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const openVariables = (user: string, name = 'network'): Promise<TestPage> =>
  openConsole(browser, server, { user, path: `/app/acme/workspaces/${name}/variables` });

const rows = (page: TestPage) => page.getByRole('table', { name: 'Terraform variables' }).getByRole('row');

/** Changes the variable `zone` of the workspace `fresh` as another person. */
const changeZone = async (attributes: object): Promise<void> => {
  const path = `/api/v2/workspaces/${fresh}/vars`;
  const [variable] = expectStatus(await server.get(path), 200).body.data;
  expectStatus(await server.patch(`${path}/${variable.id}`, patchVariableBody(attributes)), 200);
};

describe('the variables of a workspace', () => {
  it('show which of several with the same key is effective, and where each is defined', async () => {
    const page = await openVariables(owner);
    const effective = rows(page).filter({ hasText: 'ch' }).filter({ hasNotText: 'Overridden' });
    await effective.getByText('Rules').waitFor();
    await effective.getByText('Priority set').waitFor();
    await rows(page).filter({ hasText: 'This workspace' }).getByText('Overridden by Rules').waitFor();
    await rows(page).filter({ hasText: 'Defaults' }).getByText('Overridden by Rules').waitFor();
    await page.getByText('Sensitive: nobody can read it').waitFor();
    expect(await page.content()).not.toContain(SECRET);
    expect(await inspectScreen(page, 'variables')).toEqual([]);
    await page.setViewportSize({ width: 320, height: 700 });
    const widths = `[document.documentElement, ...document.querySelectorAll('[role="table"]')]
      .map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)`;
    expect(await page.evaluate(widths)).toEqual([0, 0]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(`${server.url}/app/acme/audit-trail`);
    await page
      .getByRole('row')
      .filter({ hasText: 'variables listed' })
      .filter({ hasText: 'network' })
      .first()
      .waitFor();
    // Each read of the list is one entry, however many sets apply. A screen reads again when its live stream opens late.
    const trail = `/api/v2/organizations/acme/audit-trail?filter[resource-type]=var&filter[action]=index`;
    const entries = await server.get(`${trail}&filter[actor]=${owner}`);
    const requests = (expectStatus(entries, 200).body.data as { request: { id: string } }[]).map(
      ({ request }) => request.id,
    );
    expect(requests).not.toEqual([]);
    expect(requests).toEqual([...new Set(requests)]);
    await page.getByRole('row').filter({ hasText: 'variable created' }).filter({ hasText: 'region' }).first().waitFor();
    await page.context().close();
  });

  it('are created, changed and deleted', async () => {
    const page = await openVariables(owner, 'fresh');
    await page.getByRole('heading', { name: 'There is no variable yet' }).waitFor();
    expect(await inspectScreen(page, 'variables-empty')).toEqual([]);
    await page.getByRole('button', { name: 'New variable' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Key').fill('zone');
    await dialog.getByLabel('Value').fill('a');
    expect(await inspectScreen(page, 'variable-dialog')).toEqual([]);
    const paused = await pauseRequests(page, 'POST', '**/vars');
    // Two clicks in one task, before the screen can disable the button.
    await page.evaluate(`[1, 2].forEach(() => document.querySelector('[role="dialog"] [type="submit"]').click())`);
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    await expectDisabled(dialog.getByRole('button', { name: 'Cancel' }));
    paused.release();
    await page.getByText('The variable zone is saved.').waitFor();
    expect(paused.count).toBe(1);
    await rows(page).filter({ hasText: 'zone' }).waitFor();
    await page.getByRole('button', { name: 'Change zone' }).click();
    await dialog.getByLabel('Value').fill('b');
    // Neither the live stream nor the form shows what another person changes now.
    const reads = await pauseRequests(page, 'GET', '**/all-vars*');
    await changeZone({ value: 'c', description: 'By another person' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    reads.release();
    await dialog.getByText('This variable was changed since you opened it').waitFor();
    await dialog.getByText('The value is now c. If you save, your changes replace what is there.').waitFor();
    expect(await dialog.getByLabel('Description').inputValue()).toBe('By another person');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const zone = rows(page).filter({ hasText: 'zone' }).filter({ hasText: 'By another person' });
    await zone.getByText('b', { exact: true }).waitFor();
    await chooseRowAction(page, 'zone', 'Delete');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'There is no variable yet' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await zone.getByText('b', { exact: true }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('keep a sensitive value when something else changes', async () => {
    const page = await openVariables(owner);
    await page.getByRole('button', { name: 'Change token' }).click();
    const dialog = page.getByRole('dialog', { name: 'Change token' });
    await expectDisabled(dialog.getByLabel('Key'));
    await dialog.getByLabel('Description').fill('Of the cloud');
    await page.context().clearCookies();
    await dialog.getByRole('button', { name: 'Save' }).click();
    const ended = page.getByRole('dialog', { name: 'Your session has ended' });
    await ended.getByRole('link', { name: 'Sign in' }).waitFor();
    expect(await inspectScreen(page, 'session-ended')).toEqual([]);
    const resume = ended.getByRole('button', { name: 'Continue' });
    await resume.focus();
    await page.keyboard.press('Enter');
    await ended.getByText('You are not signed in yet.').waitFor();
    await resume.and(page.locator(':focus')).waitFor();
    await startSessionIn(page, server, owner);
    await resume.click();
    await ended.waitFor({ state: 'detached' });
    await rows(page).filter({ hasText: 'Of the cloud' }).waitFor();
    const { body } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}/vars`), 200);
    const token = body.data.find(({ attributes }: any) => attributes.key === 'token');
    expect(token.attributes).toMatchObject({ description: 'Of the cloud', sensitive: true });
    await page.context().close();
  });

  it('show why a variable was refused', async () => {
    const page = await openVariables(owner);
    await page.getByRole('button', { name: 'New variable' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Key').fill('region');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText(/already/i).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('cannot be changed by a member who may only read, and the button gives the reason', async () => {
    const page = await openVariables(reader);
    await rows(page).filter({ hasText: 'Rules' }).first().waitFor();
    const button = page.getByRole('button', { name: 'New variable' });
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    await expectElements(page.getByRole('button', { name: /Change|Delete/ }), 0);
    await page.context().close();
  });

  it('are not shown to a person without access', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const page = await openVariables(id);
    await page.getByRole('heading', { name: 'This workspace does not exist, or you have no access' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});
