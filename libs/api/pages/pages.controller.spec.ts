import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

describe.each([
  ['/pages/style.css', 'text/css; charset=utf-8'],
  ['/pages/icon.svg', 'image/svg+xml'],
])('%s', (path, mediaType) => {
  it('is served without a token', async () => {
    const response = await server.as(null).get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, mediaType]);
    expect(response.text).not.toBe('');
  });

  it('is not sent again to a client that has it', async () => {
    const etag = (await server.get(path)).headers.get('etag') ?? '';
    const response = await fetch(`${server.url}${path}`, { headers: { 'if-none-match': etag } });
    expect([response.status, await response.text()]).toEqual([304, '']);
  });

  it('loads nothing from other servers', async () => {
    expect((await server.get(path)).text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(
      /https?:|@import|url\(/,
    );
  });
});
