import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ROOT } from '../../../test/support/folders.js';
import { startTestServer, type TestServer } from '../../../test/support/server.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

/** Without a token. */
const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${server.url}${path}`, { headers });

const readReference = (name: string): Promise<string> => readFile(join(ROOT, 'docs/reference', name), 'utf8');

describe.each([
  ['/api/openapi.json', 'openapi.json'],
  ['/api/asyncapi.json', 'asyncapi.json'],
  ['/schemas/WorkspaceCreated.json', 'schemas/WorkspaceCreated.json'],
])('%s', (path, name) => {
  it.each([
    ['compressed', 'br, gzip;q=0.8', 'gzip'],
    ['as it is', 'identity', null],
    ['as it is to a client that refuses gzip', 'gzip;q=0', null],
  ])('is served %s', async (_form, accepted, encoding) => {
    const response = await get(path, { 'accept-encoding': accepted });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(await response.text()).toBe(await readReference(name));
  });

  it('is not sent again to a client that has it', async () => {
    const etag = (await get(path)).headers.get('etag') ?? '';
    const response = await get(path, { 'if-none-match': etag });
    expect([response.status, await response.text()]).toEqual([304, '']);
  });
});

describe('the page of the API', () => {
  it('runs one script of this server, and may load nothing from other hosts', async () => {
    const response = await get('/api/docs');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none';script-src 'self' 'sha256-[^']+';/);
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
    const page = await response.text();
    expect(page.match(/(?:src|href)="[^"]*"/g)).toEqual(['src="/api/docs/scalar.js"']);
    const script = await get('/api/docs/scalar.js');
    expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
    expect(await script.text()).toContain('createApiReference');
  });
});

describe('an unknown schema', () => {
  it.each(['/schemas/Unheard.json', '/schemas/..%2Ffiles.json', '/schemas/__proto__'])(
    '%s is not found',
    async (path) => {
      expect((await get(path)).status).toBe(404);
    },
  );
});
