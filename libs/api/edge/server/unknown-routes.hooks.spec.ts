import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawConnection } from '../../../../test/support/raw-connection.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.close());

/** Sends the head of a request with a large body, and no byte of the body. Returns the response. */
const answerTo = async (line: string, token?: string) => {
  const connection = new RawConnection(server.url);
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { 'content-length': 100_000_000, 'content-type': 'image/png', ...authorization };
  const { status, headers: answered, body } = await connection.request(line, headers).answer();
  connection.destroy();
  return { status, allow: answered['allow'], body: body && JSON.parse(body) };
};

describe('a request that no route serves', () => {
  it.each([
    'POST /api/v2/moons',
    'PUT /api/v3/workspaces',
    'POST /api/v2/workspaces//state-versions/current',
    'PATCH /api',
    'OPTIONS /api/v2/moons',
  ])('gets 404 for an unknown address, before its body is read: %s', async (line) => {
    for (const token of [undefined, 'nobody.atlasv1.token', server.adminToken]) {
      expect(await answerTo(line, token)).toEqual({
        status: 404,
        allow: undefined,
        body: { errors: [{ status: '404', title: 'not found', detail: 'Not found' }] },
      });
    }
  });

  it.each([
    ['PUT /api/v2/organizations/acme', 'GET, HEAD, PATCH, DELETE'],
    ['PUT /api/v2/organizations/acme/?include=x', 'GET, HEAD, PATCH, DELETE'],
    ['POST /api/v2/workspaces/ws-1', 'GET, HEAD, PATCH, DELETE'],
    ['DELETE /api/v2/workspaces/ws-1/actions/lock', 'POST'],
    ['POST /api/v2/ping', 'GET, HEAD'],
    ['PATCH /.well-known/terraform.json', 'GET, HEAD'],
    ['PROPFIND /api/v2/ping', 'GET, HEAD'],
  ])('gets 405 with the methods of a known address, before its body is read: %s', async (line, allow) => {
    for (const token of [undefined, server.adminToken]) {
      const { status, allow: allowed, body } = await answerTo(line, token);
      expect({ status, allowed }).toEqual({ status: 405, allowed: allow });
      const detail = `${line.split(' ')[0]} is not supported at this address. Supported methods: ${allow}`;
      expect(body).toEqual({ errors: [{ status: '405', title: 'method not allowed', detail }] });
    }
  });

  it('gets the methods of a known address for OPTIONS', async () => {
    expect(await answerTo('OPTIONS /api/v2/organizations/acme')).toEqual({
      status: 204,
      allow: 'GET, HEAD, PATCH, DELETE',
      body: '',
    });
  });

  it('gets 405 without a body for HEAD if the address has no GET', async () => {
    const response = await fetch(`${server.url}/api/v2/workspaces/ws-1/actions/lock`, { method: 'HEAD' });
    expect([response.status, response.headers.get('allow'), await response.text()]).toEqual([405, 'POST', '']);
  });
});
