import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, expectElements } from '../support/console.js';
import {
  bindTags,
  expectStatus,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeProject,
  makeReservedTagKey,
  makeTeam,
  makeWorkspace,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

const COUNT = 520;
const padded = (n: number): string => `app-${String(n).padStart(4, '0')}`;

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let writer: string;
let ids: readonly string[];

const makeWorkspaces = async (): Promise<void> => {
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  const workspaces: string[] = [];
  const shops = await makeProject(server, 'acme', 'Shops');
  await bindTags(server, `projects/${shops}`, { env: 'prod', tier: '1' });
  await makeReservedTagKey(server, 'acme', 'tier', { 'disable-overrides': true });
  const inShops = { project: { data: { type: 'projects', id: shops } } };
  for (let n = 0; n < COUNT; n += 1)
    workspaces.push(await makeWorkspace(server, 'acme', padded(n), {}, n === 4 ? inShops : {}));
  ids = workspaces;
  expectStatus(await server.post(`/api/v2/workspaces/${ids[1]}/actions/lock`, { reason: 'Upgrade' }), 200);
  await bindTags(server, `workspaces/${ids[2]}`, { env: 'prod' });
  await bindTags(server, `workspaces/${ids[3]}`, { env: 'test' });
  const team = await makeTeam(server, 'acme', 'writers');
  await grantWorkspaceAccess(server, team, ids[5] ?? '', 'write');
  await grantWorkspaceAccess(server, team, ids[6] ?? '', 'read');
  writer = (await makeMember(server, 'acme', 'will', [team])).id;
};

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true }), openBrowser()]);
  await makeWorkspaces();
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const openList = async (user: string, search = ''): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: `/app/acme/workspaces${search}` });
  await page.getByRole('grid', { name: 'Workspaces' }).waitFor();
  return page;
};

const rowOf = (page: TestPage, name: string) => page.getByRole('row').filter({ hasText: name });
const choose = (page: TestPage, name: string) => page.getByRole('checkbox', { name: `Select ${name}` }).click();
const press = (page: TestPage, name: string) => page.getByRole('button', { name, exact: true }).click();
const waitForStatus = (page: TestPage, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();

/** Returns the texts of a list in the dialog, by the name of the list. */
const rowsIn = async (page: TestPage, name: string): Promise<readonly string[]> => {
  const list = page.getByRole('dialog').getByRole('list', { name });
  await list.waitFor();
  return list.getByRole('listitem').allInnerTexts();
};

const attributesOf = async (n: number) =>
  expectStatus(await server.get(`/api/v2/workspaces/${ids[n]}`), 200).body.data.attributes;

const bindingsOf = async (n: number): Promise<readonly string[]> =>
  expectStatus(await server.get(`/api/v2/workspaces/${ids[n]}/tag-bindings`), 200).body.data.map(
    ({ attributes: { key, value } }: any) => `${key}=${value}`,
  );

describe('the selection of workspaces', () => {
  it('changes by mouse and by keyboard', async () => {
    const page = await openList(owner);
    await choose(page, 'app-0001');
    await waitForStatus(page, '1 selected');
    await page.getByRole('checkbox', { name: 'Select app-0004' }).click({ modifiers: ['Shift'] });
    await waitForStatus(page, '4 selected');
    await page.keyboard.press('Shift+ArrowDown');
    await waitForStatus(page, '5 selected');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await waitForStatus(page, '6 selected');
    expect(await rowOf(page, 'app-0006').getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Space');
    await waitForStatus(page, '5 selected');
    expect(await inspectScreen(page, 'workspaces-selected')).toEqual([]);
    await press(page, 'Clear the selection');
    await expectElements(page.getByRole('row', { selected: true }), 0);
    await page.context().close();
  });

  it('takes all that match the filters, up to the limit that the list states', async () => {
    const page = await openList(owner, '?name=app-000');
    await page.getByRole('checkbox', { name: 'Select all workspaces of the list' }).click();
    await waitForStatus(page, '10 selected');
    await page.getByRole('checkbox', { name: 'Select all workspaces of the list' }).click();
    await page.getByRole('searchbox').fill('');
    await waitForStatus(page, '520 workspaces');
    await page.getByRole('checkbox', { name: 'Select the first 500 workspaces' }).click();
    await waitForStatus(page, '500 of 520 are selected, the limit of one change');
    await press(page, 'Lock');
    await page.getByRole('button', { name: 'Lock 499 workspaces' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('a change of several workspaces', () => {
  it('locks them after a preview, shows each refusal of the API, and undoes it', async () => {
    const page = await openList(owner);
    for (const n of [0, 1, 7, 8]) await choose(page, padded(n));
    await press(page, 'Lock');
    expect(await rowsIn(page, '3 workspaces will change')).toEqual([
      'app-0000 unlocked → locked by you',
      'app-0007 unlocked → locked by you',
      'app-0008 unlocked → locked by you',
    ]);
    expect(await rowsIn(page, '1 workspace will not change')).toEqual(['app-0001 It is locked by admin (Upgrade).']);
    expect(await inspectScreen(page, 'workspaces-bulk-preview')).toEqual([]);
    expect((await attributesOf(0)).locked).toBe(false);
    // Somebody is faster than the person who reads the preview.
    expectStatus(await server.post(`/api/v2/workspaces/${ids[8]}/actions/lock`), 200);
    await page.getByLabel('Reason').fill('Migration');
    await press(page, 'Lock 3 workspaces');
    await waitForStatus(page, '2 workspaces changed, 1 failed.');
    expect((await rowsIn(page, '1 workspace failed'))[0]).toMatch(/^app-0008 .*locked/);
    expect(await inspectScreen(page, 'workspaces-bulk-result')).toEqual([]);
    expect(await attributesOf(7)).toMatchObject({ locked: true, 'locked-reason': 'Migration' });
    await press(page, 'Undo');
    await waitForStatus(page, '2 workspaces changed back.');
    expect((await attributesOf(7)).locked).toBe(false);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page
      .locator('button:focus')
      .filter({ hasText: /^Lock$/ })
      .waitFor();
    expectStatus(await server.post(`/api/v2/workspaces/${ids[8]}/actions/unlock`), 200);
    await page.context().close();
  });

  it('adds a tag, describes why some stay as they are, and undoes it', async () => {
    const page = await openList(owner);
    for (const n of [0, 2, 3, 4]) await choose(page, padded(n));
    await press(page, 'Add a tag');
    await page.getByText('Enter a key to see what changes.').waitFor();
    await page.getByLabel('Key').fill('tier');
    await page.getByLabel('Value').fill('2');
    expect((await rowsIn(page, '1 workspace will not change'))[0]).toContain('workspaces may not override it');
    await page.getByLabel('Key').fill('env');
    await page.getByLabel('Value').fill('prod');
    expect(await rowsIn(page, '2 workspaces will change')).toEqual([
      'app-0000 no tag env → env=prod',
      'app-0003 env=test → env=prod',
    ]);
    expect(await rowsIn(page, '2 workspaces will not change')).toEqual([
      'app-0002 It has the tag already.',
      'app-0004 It inherits the tag from its project Shops.',
    ]);
    expect(await inspectScreen(page, 'workspaces-bulk-tag')).toEqual([]);
    await page.getByLabel('Key').fill('env/stage');
    await press(page, 'Add the tag to 4 workspaces');
    await waitForStatus(page, '0 workspaces changed, 4 failed.');
    expect((await rowsIn(page, '4 workspaces failed'))[0]).toContain('Key is invalid');
    await press(page, 'Back');
    expect(await page.getByLabel('Key').inputValue()).toBe('env/stage');
    await page.getByLabel('Key').fill('env');
    await press(page, 'Add the tag to 2 workspaces');
    await waitForStatus(page, '2 workspaces changed.');
    expect([await bindingsOf(0), await bindingsOf(3)]).toEqual([['env=prod'], ['env=prod']]);
    // Somebody gives one of them another value before the person changes their mind.
    await bindTags(server, `workspaces/${ids[3]}`, { env: 'staging' });
    await press(page, 'Undo');
    await waitForStatus(page, '1 workspace changed back, 1 failed.');
    expect(await rowsIn(page, '1 workspace failed')).toEqual(['app-0003 Its tag is env=staging now.']);
    expect([await bindingsOf(0), await bindingsOf(3)]).toEqual([[], ['env=staging']]);
    await bindTags(server, `workspaces/${ids[3]}`, { env: 'test' });
    await page.context().close();
  });

  it('removes a tag, and moves workspaces to a project and back', async () => {
    const page = await openList(owner);
    for (const n of [2, 3, 4]) await choose(page, padded(n));
    await press(page, 'Remove a tag');
    await page.getByLabel('Key').fill('env');
    expect(await rowsIn(page, '2 workspaces will change')).toEqual([
      'app-0002 env=prod → no tag of its own',
      'app-0003 env=test → no tag of its own',
    ]);
    await page.getByLabel('Only with this value').fill('prod');
    await press(page, 'Remove the tag from 1 workspace');
    await waitForStatus(page, '1 workspace changed.');
    expect(await bindingsOf(2)).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await press(page, 'Move');
    await page.getByRole('combobox', { name: 'Project' }).fill('Sho');
    await page.getByRole('option', { name: 'Shops' }).click();
    expect(await rowsIn(page, '1 workspace will not change')).toEqual(['app-0004 It is in this project already.']);
    await press(page, 'Move 2 workspaces');
    await waitForStatus(page, '2 workspaces changed.');
    await rowOf(page, 'app-0003').getByText('Shops').waitFor();
    await press(page, 'Undo');
    await waitForStatus(page, '2 workspaces changed back.');
    await rowOf(page, 'app-0003').getByText('Default Project').waitFor();
    await page.context().close();
  });

  it('waits as long as the server asks for, and stops when the person wants that', async () => {
    const page = await openList(owner);
    const requests: string[] = [];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let refusals = 1;
    await page.route('**/actions/lock', async (route) => {
      requests.push(route.request().url());
      if (refusals > 0) {
        refusals -= 1;
        return route.fulfill({ status: 429, headers: { 'retry-after': '1' }, json: { errors: [] } });
      }
      await released;
      return route.continue();
    });
    await choose(page, 'app-0010');
    await page.getByRole('checkbox', { name: 'Select app-0015' }).click({ modifiers: ['Shift'] });
    await waitForStatus(page, '6 selected');
    await press(page, 'Lock');
    await press(page, 'Lock 6 workspaces');
    await waitForStatus(page, 'The server limits requests. The next ones follow later.');
    await press(page, 'Stop');
    await page.waitForFunction('document.querySelector("[data-loading]") !== null');
    release();
    await waitForStatus(page, 'not sent.');
    expect(requests.length).toBeLessThanOrEqual(5);
    expect(page.pageErrors).toEqual([]);
    await page.unrouteAll({ behavior: 'wait' });
    await page.context().close();
  });

  it('offers a member only what the member may change', async () => {
    const page = await openList(writer);
    await page.getByRole('checkbox', { name: 'Select all workspaces of the list' }).click();
    await press(page, 'Lock');
    expect(await rowsIn(page, '1 workspace will change')).toEqual(['app-0005 unlocked → locked by you']);
    expect(await rowsIn(page, '1 workspace will not change')).toEqual(['app-0006 You have no permission to lock it.']);
    await press(page, 'Lock 1 workspace');
    await waitForStatus(page, '1 workspace changed.');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await press(page, 'Unlock');
    expect(await rowsIn(page, '1 workspace will change')).toEqual(['app-0005 locked by will → unlocked']);
    await press(page, 'Unlock 1 workspace');
    await waitForStatus(page, '1 workspace changed.');
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await press(page, 'Move');
    expect(await inspectScreen(page, 'workspaces-bulk-member')).toEqual([]);
    await page.context().close();
  });

  it('names who may change them, if the person may change none of them', async () => {
    const page = await openList(writer);
    await choose(page, padded(6));
    const dialog = page.getByRole('dialog');
    const refusal = dialog.getByText(/^You may not change this workspace\. You need a team/);
    for (const action of ['Lock', 'Unlock', 'Add a tag', 'Remove a tag']) {
      await press(page, action);
      await refusal.waitFor();
      await expectElements(dialog.getByRole('textbox'), 0);
      await dialog.getByRole('button', { name: 'Close' }).last().click();
      await dialog.waitFor({ state: 'detached' });
    }
    await press(page, 'Move');
    await refusal.waitFor();
    expect(await inspectScreen(page, 'bulk-reader')).toEqual([]);
    await page.context().close();
  });
});
