import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import { inspectScreen, openConsole, expectElements } from '../support/console.js';
import {
  bindTags,
  expectStatus,
  grantProjectAccess,
  grantWorkspaceAccess,
  makeMember,
  makeOrganization,
  makeProject,
  makeReservedTagKey,
  makeRun,
  makeTeam,
  makeWorkspace,
  related,
} from '../support/seeds.js';
import { makeConfigurationVersion } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

const COUNT = 230;
const LONG_NAME = 'app-0003-network-of-the-shops-in-the-north-production-west-1';
const LONG_OWNER = 'the-team-of-the-networks-in-the-north-and-in-the-west';
const padded = (n: number): string => `app-${String(n).padStart(4, '0')}`;

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let reader: string;
let maintainer: string;

/** Creates the workspaces of the organization `acme`, some of them with a tag, a run, a lock or a project of their own. */
const makeWorkspaces = async (): Promise<void> => {
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  const ids: string[] = [];
  for (let n = 0; n < COUNT; n += 1) ids.push(await makeWorkspace(server, 'acme', padded(n)));
  const [first = '', second = '', third = '', fourth = ''] = ids;
  await bindTags(server, `workspaces/${second}`, { env: 'prod' });
  await bindTags(server, `workspaces/${third}`, { env: 'test', owner: LONG_OWNER });
  expectStatus(await server.post(`/api/v2/workspaces/${first}/actions/lock`, { reason: 'Upgrade' }), 200);
  await makeConfigurationVersion(server, fourth);
  await makeRun(server, fourth);
  const project = await makeProject(server, 'acme', 'Shops');
  const into = related('workspaces', third);
  expectStatus(await server.post(`/api/v2/projects/${project}/relationships/workspaces`, into), 204);
  const team = await makeTeam(server, 'acme', 'readers');
  await grantWorkspaceAccess(server, team, second, 'read');
  reader = (await makeMember(server, 'acme', 'rita', [team])).id;
  const maintainers = await makeTeam(server, 'acme', 'maintainers');
  await grantProjectAccess(server, maintainers, project, 'maintain');
  maintainer = (await makeMember(server, 'acme', 'mara', [maintainers])).id;
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
  await page.getByRole('heading', { level: 1, name: 'Workspaces' }).waitFor();
  return page;
};

const rowOf = (page: TestPage, name: string) => page.getByRole('row').filter({ hasText: name });

const waitForCount = (page: TestPage, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();

describe('the list of workspaces', () => {
  it('shows the lock, the run, the project and the tags of each', async () => {
    const page = await openList(owner);
    await waitForCount(page, '230 workspaces');
    await rowOf(page, 'app-0000').getByRole('img', { name: 'Locked by admin: Upgrade' }).waitFor();
    await rowOf(page, 'app-0001').getByText('env=prod', { exact: true }).waitFor();
    await rowOf(page, 'app-0002').getByTitle(`env=test, owner=${LONG_OWNER}`).waitFor();
    await rowOf(page, 'app-0002').getByText('Shops').waitFor();
    await rowOf(page, 'app-0003').getByText('Pending').or(rowOf(page, 'app-0003').getByText('Plan queued')).waitFor();
    expect(await inspectScreen(page, 'workspaces')).toEqual([]);
    await page.context().close();
  });

  it('renders the rows in the window only, and loads the pages that it shows', async () => {
    const page = await openList(owner);
    const requested: string[] = [];
    page.on('request', (request) => requested.push(new URL(request.url()).searchParams.get('page[number]') ?? ''));
    await rowOf(page, 'app-0000').focus();
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('231');
    await page.keyboard.press('End');
    await rowOf(page, padded(COUNT - 1)).waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(60);
    expect(requested).toContain('3');
    await page.keyboard.press('Home');
    await page.locator(':focus').filter({ hasText: 'app-0000' }).waitFor();
    await page.context().close();
  });

  it('keeps its filters and its order in the address', async () => {
    const page = await openList(owner);
    await page.getByLabel('Search workspaces by name').fill('app-000');
    await waitForCount(page, '10 workspaces');
    await page.getByRole('button', { name: 'Filters' }).click();
    const tags = page.getByRole('combobox', { name: 'Tags' });
    await tags.fill('env:prod');
    await page.keyboard.press('Enter');
    await waitForCount(page, '1 workspace');
    // The form that the tags of the list have gives the same filter.
    await page.keyboard.press('Backspace');
    await waitForCount(page, '10 workspaces');
    expect(await tags.getAttribute('placeholder')).toBe('env or env=prod');
    await tags.fill('env=prod');
    await page.keyboard.press('Enter');
    await waitForCount(page, '1 workspace');
    expect(await inspectScreen(page, 'workspaces-filters')).toEqual([]);
    expect(new URL(page.url()).search).toBe('?name=app-000&tags=env%3Aprod');
    await page.reload();
    await waitForCount(page, '1 workspace');
    await rowOf(page, 'app-0001').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await waitForCount(page, '10 workspaces');
    await page.getByRole('button', { name: 'Name', exact: true }).click();
    await page.locator('[data-index="0"]').filter({ hasText: 'app-0009' }).waitFor();
    expect(new URL(page.url()).search).toBe('?name=app-000&sort=-name');
    await page.context().close();
  });

  it('filters by project and by the status of the current run', async () => {
    const page = await openList(owner);
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('combobox', { name: 'Project' }).fill('Sho');
    // The list is rendered again when it is filtered, and a click before that is lost.
    await page.getByRole('option', { name: 'Default Project' }).waitFor({ state: 'hidden' });
    await page.getByRole('option', { name: 'Shops' }).click();
    await waitForCount(page, '1 workspace');
    await rowOf(page, 'app-0002').waitFor();
    await page.getByRole('combobox', { name: 'Status of the current run' }).click();
    await page.getByRole('option', { name: 'Applied' }).click();
    await page.getByRole('heading', { name: 'No workspace matches' }).waitFor();
    await page.getByRole('button', { name: 'Show all workspaces' }).click();
    await waitForCount(page, '230 workspaces');
    expect(new URL(page.url()).search).toBe('');
    await page.context().close();
  });

  it('filters by lock with the keyboard, and keeps it in the address and in saved views', async () => {
    const page = await openList(owner);
    await page.getByRole('button', { name: 'Filters' }).click();
    const lock = page.getByRole('radiogroup', { name: 'Lock' });
    await lock.getByRole('radio', { name: 'Any' }).focus();
    await page.keyboard.press('ArrowRight');
    // The run of another workspace has locked it.
    await waitForCount(page, '2 workspaces');
    await rowOf(page, 'app-0000').getByRole('img', { name: 'Locked by admin: Upgrade' }).waitFor();
    await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
    expect(new URL(page.url()).search).toBe('?locked=true');
    expect(await inspectScreen(page, 'workspaces-locked')).toEqual([]);
    await page.getByRole('button', { name: 'Views', exact: true }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Locked');
    await page.getByRole('button', { name: 'Save as a new view' }).click();
    await page.getByRole('button', { name: 'View: Locked' }).waitFor();
    await page.keyboard.press('Escape');
    await lock.getByRole('radio', { name: 'Locked', exact: true }).focus();
    await page.keyboard.press('ArrowRight');
    await waitForCount(page, '228 workspaces');
    await page.getByRole('button', { name: 'View: Locked (changed)' }).click();
    await page.getByRole('link', { name: 'Locked', exact: true }).click();
    await waitForCount(page, '2 workspaces');
    await page.reload();
    await waitForCount(page, '2 workspaces');
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await waitForCount(page, '230 workspaces');
    await page.context().close();
  });

  it('shows a long name and the longest status of a run completely, also on a phone', async () => {
    const page = await openList(owner);
    await page.route('**/organizations/acme/workspaces?*', async (route) => {
      const answer = await route.fetch();
      const text = (await answer.text())
        .replaceAll(/"status":"(?:pending|plan_queued)"/g, '"status":"planned"')
        .replaceAll('"name":"app-0003"', `"name":"${LONG_NAME}"`);
      await route.fulfill({ response: answer, body: text });
    });
    await page.reload();
    const badge = rowOf(page, 'app-0003').getByText('Needs confirmation');
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await badge.waitFor();
      // A text, because the types of the tests do not include those of browsers.
      expect(
        await page.evaluate(`[...document.querySelectorAll('[role="grid"], .mantine-Badge-label')]
        .filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)`),
      ).toEqual([]);
    }
    const height = await page
      .getByRole('link', { name: LONG_NAME })
      .evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight);
    expect(height).toBe(0);
    // The window must not close while an answer is changed.
    await page.unrouteAll({ behavior: 'wait' });
    await page.context().close();
  });

  it('filters by gaps of reserved tag keys and hides columns, and keeps both in the address', async () => {
    const page = await openList(owner);
    await makeReservedTagKey(server, 'acme', 'env');
    await page.getByRole('button', { name: 'Filters' }).click();
    await page.getByRole('checkbox', { name: 'Only workspaces without a value for a reserved tag key' }).check();
    await waitForCount(page, '228 workspaces');
    await page.getByRole('checkbox', { name: 'Resources' }).uncheck();
    await page.getByRole('checkbox', { name: 'State changed' }).uncheck();
    await page.getByRole('columnheader', { name: 'State changed' }).waitFor({ state: 'detached' });
    await expectElements(page.getByRole('row').nth(1).getByRole('gridcell'), 5);
    const search = '?gaps=true&columns=run&columns=project&columns=tags';
    expect(new URL(page.url()).search).toBe(search);
    expect(await inspectScreen(page, 'workspaces-columns')).toEqual([]);
    await page.reload();
    await waitForCount(page, '228 workspaces');
    expect(await page.getByRole('columnheader').allInnerTexts()).toEqual([
      '',
      'Name',
      'Current run',
      'Project',
      'Tags',
    ]);
    await page.context().close();
  });

  it('shows a member only what the teams of the member may read', async () => {
    const page = await openList(reader);
    await waitForCount(page, '1 workspace');
    const button = page.getByRole('button', { name: 'New workspace' });
    await button.focus();
    await page.getByRole('tooltip', { name: /You need a team that may manage workspaces/ }).waitFor();
    await page.keyboard.press('Enter');
    await expectElements(page.getByRole('dialog'), 0);
    await rowOf(page, 'app-0001').click();
    await page.getByRole('heading', { level: 1, name: 'app-0001' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('creates a workspace by keyboard, shows refusals beside their fields, and opens it with the block to paste', async () => {
    const page = await openList(owner);
    await page.getByRole('button', { name: 'New workspace' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New workspace' });
    await page.locator('[data-autofocus]:focus').waitFor();
    await page.keyboard.type('app-0000');
    await dialog.getByLabel('Description').fill('Networks of the shops');
    await dialog.getByRole('combobox', { name: 'Tags' }).fill('env=prod');
    await page.keyboard.press('Enter');
    await page.keyboard.type('a/b=c');
    await page.keyboard.press('Enter');
    const project = dialog.getByRole('combobox', { name: 'Project' });
    expect(await project.inputValue()).toBe('Default Project');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('a/b=c: Key is invalid').waitFor();
    await dialog.getByText(/Key: At most 128 letters \(a to z\), digits, spaces and/).waitFor();
    expect(await inspectScreen(page, 'workspace-new')).toEqual([]);
    await dialog.getByRole('combobox', { name: 'Tags' }).focus();
    await page.keyboard.press('Backspace');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('Name has already been taken').waitFor();
    await page.route('**/organizations/acme/workspaces', (route) => route.abort(), { times: 1 });
    await dialog.getByLabel('Name').fill('shop-network');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await dialog.getByText('The server did not answer, and may have made the change.').waitFor();
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'shop-network' }).waitFor();
    await page.locator('h1:focus').waitFor();
    const block = page.getByRole('region', { name: 'the terraform block' });
    expect(await block.textContent()).toContain('workspaces { name = "shop-network" }');
    await page.getByText('Networks of the shops').waitFor();
    await page.context().close();
  });

  it('lets a maintainer of a project create workspaces in this project only', async () => {
    const page = await openList(maintainer);
    await page.getByRole('button', { name: 'New workspace' }).click();
    const dialog = page.getByRole('dialog', { name: 'New workspace' });
    const project = dialog.getByRole('combobox', { name: 'Project' });
    await project.click();
    await page.getByRole('option', { name: 'Shops' }).waitFor();
    await expectElements(page.getByRole('option'), 1);
    await page.keyboard.press('Escape');
    await dialog.getByLabel('Name').fill('shop-dns');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'shop-dns' }).waitFor();
    await page.getByRole('definition').filter({ hasText: 'Shops' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('describes to a person without access what to do', async () => {
    const { id } = await ensureUser(server.store, server.runtime.ids, 'nina', false);
    const page = await openList(id);
    await page.getByRole('heading', { name: 'This organization does not exist, or you have no access' }).waitFor();
    expect(await inspectScreen(page, 'workspaces-no-access')).toEqual([]);
    await page.context().close();
  });
});
