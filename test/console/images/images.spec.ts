import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
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
let page: TestPage;

beforeAll(async () => {
  const options = { forBrowsers: true, followers: true, clock, ids: new SampleIds() };
  [server, browser] = await Promise.all([startTestServer(options), openBrowser()]);
  const user = await fillSampleSite(server, clock);
  page = await openConsole(browser, server, { user, path: '/pages/icon.svg' });
  await page.clock.setFixedTime(clock.now());
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1280, height: 800 });
});

afterAll(async () => {
  await browser.close();
  await server.close();
});

/** The port of the test server is another one each time. A text, because the types of the tests do not include browsers'. */
const replaceHost = (): Promise<unknown> =>
  page.evaluate(`
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode())
      walker.currentNode.data = walker.currentNode.data.replaceAll(location.host, 'cadastre.example.com')`);

/** Each screen with a text that it shows when it has loaded. */
const SCREENS = [
  { name: 'organizations', path: '', text: 'Owner' },
  { name: 'workspaces', path: '/acme/workspaces', text: '10 workspaces' },
  { name: 'workspace', path: NETWORK, text: 'env: prod' },
  { name: 'timeline', path: `${NETWORK}/timeline`, text: 'Every field is as it is now.' },
  { name: 'variables', path: `${NETWORK}/variables`, text: 'Priority set' },
  { name: 'state-versions', path: `${NETWORK}/states`, text: 'Current' },
  { name: 'runs', path: '/acme/runs', text: 'Add a subnet for the ledger' },
];

it.each(SCREENS)('the image of $name has at most 150 kB', async ({ name, path, text }) => {
  await page.goto(`${server.url}/app${path}`);
  await page.getByText(text).first().waitFor();
  if (name === 'state-versions') await page.getByRole('button', { name: 'Show what serial 2 changed' }).click();
  if (path !== '') await page.getByRole('banner').getByText('Live', { exact: true }).waitFor();
  await page.waitForLoadState('networkidle');
  await replaceHost();
  const image = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  if (process.env['UPDATE_IMAGES']) await writeImage(browser, join(ROOT, 'docs/images', `console-${name}.png`), image);
  expect(image.length).toBeLessThanOrEqual(MAX_BYTES);
  expect(page.pageErrors).toEqual([]);
});
