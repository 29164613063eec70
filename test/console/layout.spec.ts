import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openBrowser, type TestBrowser, type TestPage } from '../support/browser.js';
import {
  findViolations,
  inspectScreen,
  nameOfFocus,
  openConsole,
  pauseRequests,
  expectElements,
} from '../support/console.js';
import { BUILD } from '../support/folders.js';
import { waitUntil } from '../support/product.js';
import {
  expectStatus,
  makeMember,
  makeOrganization,
  makeProject,
  makeTeam,
  makeWorkspace,
  resource,
} from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

let server: TestServer;
let browser: TestBrowser;
let owner: string;
let workspace: string;

beforeAll(async () => {
  [server, browser] = await Promise.all([startTestServer({ forBrowsers: true, followers: true }), openBrowser()]);
  const { ownersTeam } = await makeOrganization(server, 'acme');
  owner = (await makeMember(server, 'acme', 'olga', [ownersTeam])).id;
  workspace = await makeWorkspace(server, 'acme', 'network');
  await makeWorkspace(server, 'acme', 'storage');
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

const open = (path: string): Promise<TestPage> => openConsole(browser, server, { user: owner, path });

const waitForTitle = (page: TestPage, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

describe('the keyboard alone', () => {
  it('leads from the organizations to a workspace, and locks it', async () => {
    const page = await open('/app');
    await page.getByRole('link', { name: 'acme' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await nameOfFocus(page)).toBe('Skip to content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await nameOfFocus(page)).toBe('New organization');
    await page.keyboard.press('Tab');
    expect(await nameOfFocus(page)).toBe('acme');
    await page.keyboard.press('Enter');
    await waitForTitle(page, 'acme');
    await page.getByRole('region', { name: 'Changed last' }).getByText('network').waitFor();
    expect(await nameOfFocus(page)).toBe('acme');
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await waitForTitle(page, 'Workspaces');
    await page.getByRole('row').filter({ hasText: 'network' }).waitFor();
    expect(await nameOfFocus(page)).toBe('Workspaces');
    await page.keyboard.press('/');
    expect(await nameOfFocus(page)).toBe('Search workspaces by name');
    await page.keyboard.press('Tab');
    expect(await nameOfFocus(page)).toBe('Filters');
    // Over the filters, the choice of columns and the headings.
    for (let n = 0; n < 12 && !(await nameOfFocus(page)).includes('network'); n += 1) await page.keyboard.press('Tab');
    expect(await nameOfFocus(page)).toContain('network');
    await page.keyboard.press('ArrowDown');
    expect(await nameOfFocus(page)).toContain('storage');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await waitForTitle(page, 'network');
    await page.getByRole('button', { name: 'Lock', exact: true }).waitFor();
    await page.keyboard.press('Tab');
    expect(await nameOfFocus(page)).toBe('Lock');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Lock network' }).waitFor();
    await page.keyboard.type('By keyboard');
    await page.keyboard.press('Enter');
    await page.getByText('Reason: By keyboard').waitFor();
    const { body } = expectStatus(await server.get(`/api/v2/workspaces/${workspace}`), 200);
    expect(body.data.attributes['locked-reason']).toBe('By keyboard');
    await page.context().close();
  });

  it('opens the palette, which gets all keys after Ctrl K and finds a workspace', async () => {
    const page = await open('/app');
    const scripts = await pauseRequests(page, 'GET', '**/command-palette-*.js');
    await page.goto(`${server.url}/app/acme/workspaces`);
    await waitForTitle(page, 'Workspaces');
    const search = page.getByRole('combobox', { name: 'Search and commands' });
    await page.keyboard.press('Control+k');
    // While the palette is not there, `g a` would open the audit trail.
    await page.keyboard.type('gateway');
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    expect(await nameOfFocus(page)).toBe('Search workspaces by name');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('gatewax');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('y ');
    scripts.release();
    await search.and(page.locator(':focus')).waitFor();
    expect(scripts.count).toBe(1);
    await page.keyboard.type('x');
    expect(await search.inputValue()).toBe('gateway x');
    await waitForTitle(page, 'Workspaces');
    expect(await page.getByLabel('Search workspaces by name').inputValue()).toBe('');
    await search.fill('stor');
    await page.getByRole('option', { name: 'storage' }).waitFor();
    await page.keyboard.press('Enter');
    await waitForTitle(page, 'storage');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('opens the palette, which finds resources of the organization, tabs and actions', async () => {
    await makeProject(server, 'acme', 'Platform');
    await makeTeam(server, 'acme', 'platform-core');
    const provider = resource('registry-providers', {
      name: 'platform-dns',
      namespace: 'acme',
      'registry-name': 'private',
    });
    expectStatus(await server.post('/api/v2/organizations/acme/registry-providers', provider), 201);
    const page = await open('/app/acme/workspaces/storage');
    await page.getByRole('button', { name: 'Lock', exact: true }).waitFor();
    const search = page.getByRole('combobox', { name: 'Search and commands' });
    const choose = async (text: string, option: string) => {
      await page.keyboard.press('Control+k');
      await search.fill(text);
      await page.getByRole('option', { name: option, exact: true }).click();
    };
    await choose('variab', 'Variables of storage');
    await page.getByRole('heading', { name: 'There is no variable yet' }).waitFor();
    await page.keyboard.press('Control+k');
    await search.fill('plat');
    for (const [group, name] of Object.entries({
      Projects: 'Project Platform',
      Teams: 'platform-core',
      Providers: 'platform-dns',
      People: 'Find people named “plat”',
    }))
      await page.getByRole('group', { name: group }).getByRole('option', { name, exact: true }).waitFor();
    expect(await inspectScreen(page, 'palette-resources')).toEqual([]);
    await search.fill('lock');
    await page.getByRole('option', { name: 'Lock the workspace', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Lock storage' });
    await dialog.getByLabel('Reason').and(page.locator(':focus')).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await choose('plat', 'platform-core');
    await waitForTitle(page, 'platform-core');
    await choose('plat', 'Project Platform');
    await page.waitForURL('**/app/acme/projects/prj-*');
    await choose('olg', 'Find people named “olg”');
    await page.getByRole('cell', { name: /olga/ }).first().waitFor();
    await choose('shortcuts', 'Keyboard shortcuts');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');
    await choose('sign', 'Sign out');
    await page.waitForURL('**/sign-in*');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('lists the shortcuts, which a person can turn off', async () => {
    const page = await open('/app/acme/workspaces/network');
    await waitForTitle(page, 'network');
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await dialog.getByText('Go to workspaces').waitFor();
    expect(await inspectScreen(page, 'shortcuts')).toEqual([]);
    await dialog.getByRole('switch', { name: 'Shortcuts of single keys' }).click();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search and commands' }).waitFor();
    expect(page.url()).toBe(`${server.url}/app/acme/workspaces/network`);
    await page.context().close();
  });

  it('goes to a screen with two keys', async () => {
    const page = await open('/app/acme/workspaces/network');
    await waitForTitle(page, 'network');
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await waitForTitle(page, 'Workspaces');
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await waitForTitle(page, 'Organizations');
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });
});

describe('the header', () => {
  it('switches organizations and colors, and signs out', async () => {
    await makeOrganization(server, 'zeta');
    const page = await open('/app/acme/workspaces');
    await waitForTitle(page, 'Workspaces');
    await page.getByRole('button', { name: 'acme' }).click();
    await page.getByRole('menuitem', { name: 'All organizations' }).waitFor();
    await page.getByRole('menuitem', { name: 'acme' }).waitFor();
    await expectElements(page.getByRole('menuitem', { name: 'zeta' }), 0);
    expect(await findViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Colors' }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
    expect(await scheme()).toBe('dark');
    await page.reload();
    await waitForTitle(page, 'Workspaces');
    expect(await scheme()).toBe('dark');
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByText('Signed in as olga').waitFor();
    await page
      .locator('time')
      .filter({ hasText: /now|ago/ })
      .first()
      .waitFor();
    const exact = page.getByRole('menuitemcheckbox', { name: 'Exact times' });
    const startOf = async (text: string) => (await page.getByText(text, { exact: true }).boundingBox())?.x;
    expect(await startOf('Exact times')).toBe(await startOf('Keyboard shortcuts'));
    await exact.and(page.locator('[aria-checked="false"]')).click();
    await exact.and(page.locator('[aria-checked="true"]')).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page
      .locator('time')
      .filter({ hasText: /^[^(]*\d:\d\d:\d\d[^(]*$/ })
      .first()
      .waitFor();
    // A text, because the types of the tests do not include those of browsers.
    const cut = `[...document.querySelectorAll('[role="gridcell"]:has(time)')]
      .filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent)`;
    expect(await page.evaluate(cut)).toEqual([]);
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('opens the navigation on a phone, which closes on the next screen', async () => {
    const page = await open('/app/acme/workspaces/network');
    await waitForTitle(page, 'network');
    await page.setViewportSize({ width: 390, height: 844 });
    const link = page.getByRole('navigation', { name: 'Organization' }).getByRole('link', { name: 'Workspaces' });
    await link.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Navigation' }).click();
    await link.waitFor();
    expect(await findViolations(page)).toEqual([]);
    await link.click();
    await waitForTitle(page, 'Workspaces');
    await link.waitFor({ state: 'hidden' });
    await page.context().close();
  });
});

describe('the console', () => {
  it('leads to the sign-in page without a session, and back to the screen', async () => {
    const page = await browser.openPage();
    await page.goto(`${server.url}/app/acme/workspaces?name=net`);
    await page.waitForURL('**/sign-in?**');
    expect(new URL(page.url()).searchParams.get('return_to')).toBe('/app/acme/workspaces?name=net');
    await page.context().close();
  });

  it('describes an unknown address', async () => {
    const page = await open('/app/acme/no-such-screen');
    await page.getByText('This page does not exist, or you have no access').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.goto(`${server.url}/app/acme/workspaces/network/no-such-tab`);
    await page.getByText('This page does not exist, or you have no access').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).allInnerTexts()).toEqual(['network']);
    expect(await page.title()).toBe('Not found · network · Default Project · acme · Cadastre');
    await page.getByRole('link', { name: 'Variables' }).click();
    const title = 'Variables · network · Default Project · acme · Cadastre';
    await waitUntil(async () => (await page.title()) === title, `the title is ${title}`);
    await page.context().close();
  });

  it('waits and repeats a request that the server refuses for now', async () => {
    const page = await open('/app');
    await page.getByRole('link', { name: 'acme' }).waitFor();
    let refusals = 0;
    await page.route('**/api/v2/organizations/acme/workspaces?*', async (route) => {
      refusals += 1;
      if (refusals > 2) return route.fallback();
      const errors = [{ status: '429', title: 'too many', detail: 'Too many requests.' }];
      const delay = refusals === 1 ? '1' : '0';
      return route.fulfill({ status: 429, headers: { 'retry-after': delay }, json: { errors } });
    });
    await page.goto(`${server.url}/app/acme/workspaces`);
    await page.getByText('The server has asked to wait 1 s. The console then sends the request again.').waitFor();
    await page.getByRole('row').filter({ hasText: 'network' }).waitFor();
    expect(refusals).toBeGreaterThan(2);
    await page.context().close();
  });

  it('shows why a request failed, and tries again when the person wants it', async () => {
    const page = await open('/app');
    await page.getByRole('link', { name: 'acme' }).waitFor();
    const path = '**/api/v2/organizations/acme/workspaces/network?*';
    const errors = [{ status: '500', title: 'internal', detail: 'The database is away.' }];
    await page.route(path, (route) => route.fulfill({ status: 500, json: { errors } }));
    await page.goto(`${server.url}/app/acme/workspaces/network`);
    await page.getByRole('alert').getByText('The database is away.').waitFor();
    await page.unroute(path);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('region', { name: 'Settings' }).waitFor();
    expect(page.pageErrors).toEqual([]);
    await page.context().close();
  });

  it('loads nothing from other hosts', async () => {
    const page = await browser.openPage();
    const hosts = new Set<string>();
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    await page.goto(`${server.url}/app`);
    await page.waitForURL('**/sign-in?**');
    expect([...hosts]).toEqual([new URL(server.url).host]);
    await page.context().close();
  });
});

type FileSizes = Readonly<Record<string, { readonly sizes: { readonly gzip: number } }>>;

const MAX_BYTES = 200_000;

describe('the first view', () => {
  it.each(['/app', '/app/acme/workspaces', '/app/acme/workspaces/network'])(
    'needs at most 200 kB of compressed JavaScript at %s',
    async (path) => {
      const files = JSON.parse(await readFile(join(BUILD, 'dist/console/files.json'), 'utf8')) as FileSizes;
      const page = await open('/pages/icon.svg');
      const scripts = new Set<string>();
      page.on('request', (request) => {
        const name = new URL(request.url()).pathname.replace('/app/', '');
        if (name.endsWith('.js')) scripts.add(name);
      });
      await page.goto(`${server.url}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      const bytes = [...scripts].reduce((sum, name) => sum + (files[name]?.sizes.gzip ?? Number.NaN), 0);
      expect(bytes).toBeGreaterThan(50_000);
      expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
      await page.context().close();
    },
  );
});
