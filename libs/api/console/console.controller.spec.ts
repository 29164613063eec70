import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

/** Without a session. */
const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${server.url}${path}`, { headers });

/** Returns the addresses of the files that the page loads. */
const listFiles = async (): Promise<readonly string[]> => {
  const page = await (await get('/app')).text();
  return [...page.matchAll(/(?:src|href)="(\/app\/[^"]+)"/g)].map(([, path = '']) => path);
};

describe('the page of the console', () => {
  it.each(['/app', '/app/', '/app/acme/workspaces/network', '/app/assets', '/app/assets/workspaces', '/app/a.b/c.d'])(
    'is the same for everybody at %s',
    async (path) => {
      const response = await get(path);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(await response.text()).toContain('<div id="console"></div>');
    },
  );

  it('runs only scripts of this server, and sends requests to no other', async () => {
    const response = await get('/app');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none';script-src 'self';style-src 'self' 'nonce-[\w-]{22}';/);
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/https?:|\*|unsafe/);
    const page = await response.text();
    expect(page).not.toMatch(/<script(?![^>]* src="\/app\/assets\/)|<style|\son\w+=|(?:src|href)="(?:https?:)?\/\//);
  });

  it('allows the styles of its own response only', async () => {
    const responses = await Promise.all([get('/app'), get('/app')]);
    const nonces = await Promise.all(
      responses.map(async (response) => {
        const policy = response.headers.get('content-security-policy') ?? '';
        const [, nonce = ''] = /'nonce-([\w-]+)'/.exec(policy) ?? [];
        expect(await response.text()).toContain(`nonce="${nonce}"`);
        return nonce;
      }),
    );
    expect(new Set(nonces).size).toBe(2);
  });
});

describe('the address of the server', () => {
  it('leads to the console', async () => {
    const response = await fetch(`${server.url}/`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/app']);
  });
});

describe('a file of the console', () => {
  it.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['identity', null],
  ])('is sent with the best compression that a client accepts: %s', async (accepted, encoding) => {
    const [script = ''] = (await listFiles()).filter((path) => path.endsWith('.js'));
    const response = await get(script, { 'accept-encoding': accepted });
    expect([response.status, response.headers.get('content-encoding')]).toEqual([200, encoding]);
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(await response.text()).toContain('createElement');
  });

  it('is kept by browsers for a year, because its name changes with its content', async () => {
    for (const path of await listFiles()) {
      const response = await get(path);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(path).toMatch(/-[\w-]{8}\.(?:js|css)$/);
    }
  });

  it.each(['/app/assets/unknown.js', '/app/assets/..%2Ffiles.json', '/app/assets/index.html'])(
    'is not found if the build has none with this name: %s',
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ errors: [{ status: '404' }] });
    },
  );
});
