import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser } from '../support/browser.js';
import { inspectScreen, openConsole } from '../support/console.js';
import { makeMember, makeOrganization } from '../support/seeds.js';
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

describe('the console', () => {
  it('opens', async () => {
    await makeOrganization(server, 'acme');
    const { id } = await makeMember(server, 'acme', 'ada');
    const page = await openConsole(browser, server, { user: id, path: '/app' });
    await page.getByRole('heading', { level: 1, name: 'Organizations' }).waitFor();
    expect(await inspectScreen(page, 'organizations')).toEqual([]);
    await page.context().close();
  });
});
