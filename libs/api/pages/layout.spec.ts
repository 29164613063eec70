import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openBrowser, type TestBrowser } from '../../../test/support/browser.js';
import { ROOT } from '../../../test/support/folders.js';
import { renderField, renderNotice } from './forms.renderer.js';
import { html, trustHtml } from './html.js';
import { renderPage, type HtmlPage } from './page.renderer.js';

let server: Server;
let browser: TestBrowser;
let url: string;
let page: HtmlPage;

const ASSETS = { '/pages/style.css': 'text/css', '/pages/icon.svg': 'image/svg+xml' };

beforeAll(async () => {
  const files = new Map<string, Buffer>();
  for (const path of Object.keys(ASSETS))
    files.set(path, await readFile(join(ROOT, 'libs/api/pages/assets', path.slice('/pages/'.length))));
  server = createServer((request, response) => {
    const mediaType = ASSETS[request.url as keyof typeof ASSETS];
    const policy = { 'content-security-policy': page.contentPolicy };
    response.writeHead(200, { 'content-type': mediaType ?? 'text/html', ...(mediaType ? {} : policy) });
    response.end(mediaType ? files.get(request.url ?? '') : page.html);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  url = `http://localhost:${address.port}/`;
  browser = await openBrowser();
});

afterAll(async () => {
  await browser.close();
  server.closeAllConnections();
  server.close();
});

const form = html`${renderNotice('error', 'User name or password is wrong.')}
  <form method="post">
    ${renderField({ name: 'username', label: 'User name', hint: 'Or e-mail', autocomplete: 'username' })}
    <button>Continue</button>
  </form>`;

it.each(['light', 'dark'] as const)('is no wider than a phone, in %s colours', async (colorScheme) => {
  page = renderPage({ title: 'Sign in', username: 'a'.repeat(64), body: form });
  const tab = await browser.openPage();
  await tab.emulateMedia({ colorScheme });
  await tab.setViewportSize({ width: 320, height: 640 });
  await tab.goto(url);
  // A text, because the types of the tests do not include those of browsers.
  const width = await tab.evaluate('document.documentElement.scrollWidth');
  expect(width).toBe(320);
  expect(await tab.getByLabel('User name').getAttribute('autocomplete')).toBe('username');
  expect(await tab.getByRole('alert').textContent()).toBe('User name or password is wrong.');
  expect(tab.pageErrors).toEqual([]);
  await tab.context().close();
});

it('runs no script that text brings in', async () => {
  const attack = trustHtml('<script>document.title = "taken"</script><img src="x" onerror="document.title = 1">');
  page = renderPage({ title: 'Sign in', body: attack });
  const tab = await browser.openPage();
  await tab.goto(url);
  expect(await tab.title()).toBe('Sign in · Cadastre');
  expect(tab.pageErrors.filter((error) => error.includes('Content Security Policy'))).not.toEqual([]);
  await tab.context().close();
});
