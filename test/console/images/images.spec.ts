import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ensureUser } from '#identity/people';
import { openBrowser, type TestBrowser, type TestPage } from '../../support/browser.js';
import { FixedClock } from '../../support/clocks.js';
import { openConsole } from '../../support/console.js';
import { ROOT } from '../../support/folders.js';
import { startTestServer, type TestServer } from '../../support/server.js';
import { fillSampleSite, SampleIds } from './sample-site.js';
import { writeImage } from './write-image.js';

const MAX_BYTES = 150_000;
const NETWORK = '/acme/workspaces/network';

const clock = new FixedClock();
let server: TestServer;
let browser: TestBrowser;
let owner: TestPage;
let administrator: TestPage;

const openPage = async (user: string): Promise<TestPage> => {
  const page = await openConsole(browser, server, { user, path: '/pages/icon.svg' });
  await page.clock.setFixedTime(clock.now());
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1280, height: 800 });
  return page;
};

beforeAll(async () => {
  const options = { forBrowsers: true, followers: true, clock, ids: new SampleIds() };
  [server, browser] = await Promise.all([startTestServer(options), openBrowser()]);
  owner = await openPage(await fillSampleSite(server, clock));
  administrator = await openPage((await ensureUser(server.store, server.runtime.ids, 'admin', true)).id);
  await fixSiteStatus(administrator);
  await addDeliveries(owner);
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

/**
 * Replaces what differs in each run: the port of the test server, and the id of the key. A text, because the types of the tests
 * do not include those of browsers.
 */
const replaceChangingTexts = (page: TestPage): Promise<unknown> =>
  page.evaluate(`
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
      walker.currentNode.data = walker.currentNode.data
        .replaceAll(location.host, 'cadastre.example.com')
        .replaceAll(/\\b[0-9A-F]{16}\\b/g, '34365D9472D7468F')`);

const PROCESSES = ['gateway', 'projector', 'publisher'];

/** Replaces what depends on the machine. */
const fixSiteStatus = (page: TestPage) =>
  page.route('**/api/v2/admin/site-status', async (route) => {
    const { data } = (await (await route.fetch()).json()) as { data: { attributes: Record<string, any> } };
    const { attributes } = data;
    const since = clock.now().toISOString();
    Object.assign(attributes, {
      'database-bytes': 84_934_656,
      'event-count': 120_000,
      'postgres-version': '18.4',
      processes: PROCESSES.map((name, index) => ({ name, address: `192.0.2.${index + 7}`, connections: 4, since })),
      followers: attributes['followers'].map((each: object) => ({
        ...each,
        running: true,
        behind: 0,
        'idle-seconds': 2,
      })),
      'last-verification': { ...attributes['last-verification'], transaction: '83021', position: 120_000 },
      settings: attributes['settings'].filter(({ name }: { name: string }) => name !== 'CADASTRE_BLOBS'),
    });
    await route.fulfill({ json: { data } });
  });

const addDelivery = (minutes: number, code: string) => ({
  code,
  successful: String(code === '200'),
  'sent-at': new Date(clock.now().getTime() - minutes * 60_000).toISOString(),
});

/** Adds what the destinations of notifications would have answered. */
const addDeliveries = (page: TestPage) =>
  page.route('**/notification-configurations?*', async (route) => {
    const { data } = (await (await route.fetch()).json()) as { data: { attributes: Record<string, any> }[] };
    const answers = [[addDelivery(4, '200'), addDelivery(95, '200')], [addDelivery(12, '503')]];
    for (const [index, { attributes }] of data.entries())
      Object.assign(attributes, { enabled: true, 'delivery-responses': answers[index] });
    await route.fulfill({ json: { data } });
  });

const idOf = async (path: string, matches: (attributes: any) => boolean): Promise<string> => {
  const { body } = await server.get(`/api/v2/${path}`);
  return body.data.find(({ attributes }: any) => matches(attributes)).id as string;
};

const buildWhyPath = async (): Promise<string> => {
  const team = await idOf('organizations/acme/teams', ({ name }) => name === 'shops');
  const workspace = await idOf('organizations/acme/workspaces', ({ name }) => name === 'billing');
  return `/acme/teams/why?team=${team}&permission=queue-run&workspace=${workspace}`;
};

const buildRunPath = async (): Promise<string> =>
  `${NETWORK}/runs/${await idOf('organizations/acme/runs', ({ message }) => message === 'Add a subnet for the ledger')}`;

const buildTeamPath = async (): Promise<string> =>
  `/acme/teams/${await idOf('organizations/acme/teams', ({ name }) => name === 'platform')}`;

type Screen = {
  readonly name: string;
  readonly path: string | (() => Promise<string>);
  /** A text that the screen shows when it has loaded. */
  readonly text: string;
  readonly isForAdministrators?: boolean;
  readonly prepare?: (page: TestPage) => Promise<void>;
};

const SCREENS: readonly Screen[] = [
  // The first, because the trail records what the other screens read.
  { name: 'audit-trail', path: '/acme/audit-trail', text: 'of a provider' },
  { name: 'organizations', path: '', text: 'Owner' },
  { name: 'home', path: '/acme', text: 'changed today' },
  { name: 'workspaces', path: '/acme/workspaces', text: '10 workspaces' },
  { name: 'workspace', path: NETWORK, text: 'env=prod' },
  { name: 'timeline', path: `${NETWORK}/timeline`, text: 'Every field is as it is now.' },
  { name: 'variables', path: `${NETWORK}/variables`, text: 'Priority set' },
  { name: 'notifications', path: `${NETWORK}/notifications`, text: 'Delivered: 200' },
  {
    name: 'state-versions',
    path: `${NETWORK}/states`,
    text: 'Current',
    prepare: (page) => page.getByRole('button', { name: 'Changes of serial 2' }).click(),
  },
  {
    name: 'shared-states',
    path: `${NETWORK}/state`,
    text: 'monitoring',
    prepare: (page) => page.getByRole('region', { name: 'Shared states' }).scrollIntoViewIfNeeded(),
  },
  { name: 'runs', path: '/acme/runs', text: 'Add a subnet for the ledger' },
  {
    name: 'run',
    path: buildRunPath,
    text: 'Confirm and apply',
    prepare: (page) => page.getByText('aws_security_group_rule.database').click(),
  },
  { name: 'tags', path: '/acme/tags', text: 'cost-center' },
  { name: 'access', path: '/acme/teams/access', text: 'shops' },
  { name: 'team', path: buildTeamPath, text: 'maria' },
  { name: 'why-access', path: buildWhyPath, text: 'Gives it' },
  { name: 'registry', path: '/acme/registry/example', text: 'Can be installed' },
  { name: 'people', path: '/acme/people', text: 'sven' },
  { name: 'tokens', path: '/acme/people/tokens', text: 'Pipeline of the shops' },
  { name: 'site', path: '/~site', text: 'Scheduled jobs', isForAdministrators: true },
];

const HAS_LIVE_STREAM = /^\/[^~]/;

it.each(SCREENS)('the image of $name has at most 150 kB', async (screen) => {
  const page = screen.isForAdministrators ? administrator : owner;
  const path = typeof screen.path === 'string' ? screen.path : await screen.path();
  await page.goto(`${server.url}/app${path}`);
  await page.getByText(screen.text).first().waitFor();
  await screen.prepare?.(page);
  if (HAS_LIVE_STREAM.test(path)) await page.getByRole('banner').getByText('Live', { exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  await replaceChangingTexts(page);
  const image = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  const file = join(ROOT, 'docs/images', `console-${screen.name}.png`);
  if (process.env['UPDATE_IMAGES']) await writeImage(browser, file, image);
  expect(image.length).toBeLessThanOrEqual(MAX_BYTES);
  expect(page.pageErrors).toEqual([]);
});
