import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { SESSION_COOKIE } from '#api/access';
import { openBrowser, type TestBrowser, type TestPage } from '../../../../test/support/browser.js';
import { openFlakyConnection, type FlakyConnection } from '../../../../test/support/flaky-connection.js';
import { waitUntil } from '../../../../test/support/product.js';
import { makeMember, makeOrganization, makeReservedTagKey } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { startTestSession } from '../../../../test/support/sessions.js';

let server: TestServer;
let browser: TestBrowser;
let connection: FlakyConnection;

beforeAll(async () => {
  server = await startTestServer({ forBrowsers: true });
  connection = await openFlakyConnection(server.url.replace('localhost', '127.0.0.1'));
  browser = await openBrowser();
});
afterAll(async () => {
  await browser.close();
  await connection.close();
  await server.close();
});

/** Runs in the page: collects messages with the browser's EventSource, and every change of its state. */
const followInPage = (path: string): void => {
  const source = new EventSource(path);
  const received: string[] = [];
  Object.assign(globalThis, { source, received });
  for (const word of ['ready', 'created', 'reset', 'end']) {
    source.addEventListener(word, (event) => {
      const { type, resource } = JSON.parse((event as MessageEvent).data as string) as {
        type?: string;
        resource?: { id: string };
      };
      received.push(type === undefined ? word : `${type} ${resource?.id}`);
    });
  }
};

type FollowingPage = { readonly source: EventSource; readonly received: string[] };

const readReceived = (page: TestPage): Promise<string[]> =>
  page.evaluate(() => (globalThis as unknown as FollowingPage).received);

const isClosed = (page: TestPage): Promise<boolean> =>
  page.evaluate(() => (globalThis as unknown as FollowingPage).source.readyState === EventSource.CLOSED);

const openPage = async (cookie?: string): Promise<TestPage> => {
  const page = await browser.openPage();
  const url = new URL('/api/docs', connection.url.replace('127.0.0.1', 'localhost')).toString();
  if (cookie !== undefined) {
    // Browsers treat this host as secure, but accept the name of the cookie only from an address with HTTPS.
    const origin = new URL(url).origin.replace('http:', 'https:');
    await page.context().addCookies([{ name: SESSION_COOKIE, value: cookie, url: `${origin}/`, secure: true }]);
  }
  // The script of this page has several megabytes, and the test does not need it.
  await page.route('**/scalar.js', (route) => route.abort());
  await page.goto(url);
  return page;
};

it('sends a signed-in person all messages with the EventSource of the browser, although the connection breaks', async () => {
  await makeOrganization(server, 'mill');
  const ada = await makeMember(server, 'mill', 'ada');
  const page = await openPage((await startTestSession(server, ada.id)).secret);
  await page.evaluate(followInPage, '/api/v2/organizations/mill/events');
  await waitUntil(async () => (await readReceived(page)).length === 1, 'the stream has begun');
  const keys = [await makeReservedTagKey(server, 'mill', 'one')];
  await waitUntil(async () => (await readReceived(page)).length === 2, 'a message has arrived');
  await connection.cut();
  keys.push(await makeReservedTagKey(server, 'mill', 'two'));
  await connection.mend();
  keys.push(await makeReservedTagKey(server, 'mill', 'three'));
  await waitUntil(async () => (await readReceived(page)).length >= 4, 'the browser has resumed');
  expect(await readReceived(page)).toEqual(['ready', ...keys.map((key) => `ReservedTagKeyCreated ${key}`)]);
});

it('makes the browser give up if there is no session', async () => {
  await makeOrganization(server, 'barn');
  const page = await openPage();
  await page.evaluate(followInPage, '/api/v2/organizations/barn/events');
  await waitUntil(() => isClosed(page), 'the browser has given up');
  expect(await readReceived(page)).toEqual([]);
});

it('can move the position of a browser without a message', async () => {
  const positions: (string | undefined)[] = [];
  const streams = createServer(({ url, headers }, response) => {
    if (url !== '/events') return void response.setHeader('content-type', 'text/html').end('<p>page</p>');
    positions.push(headers['last-event-id'] as string | undefined);
    response
      .setHeader('content-type', 'text/event-stream')
      .end('retry: 10\n\nid: one\nevent: ready\ndata: {}\n\nid: two\n\n');
  }).listen(0, '127.0.0.1');
  await once(streams, 'listening');
  const page = await browser.openPage();
  await page.goto(`http://127.0.0.1:${(streams.address() as AddressInfo).port}/`);
  await page.evaluate(followInPage, '/events');
  await waitUntil(() => positions.length > 1, 'the browser has connected again');
  await page.close();
  streams.closeAllConnections();
  streams.close();
  expect(positions.slice(0, 2)).toEqual([undefined, 'two']);
});
