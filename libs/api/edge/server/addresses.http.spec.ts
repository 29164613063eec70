import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RawConnection } from '../../../../test/support/raw-connection.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { escapeAddress, normalizeAddress } from './addresses.http.js';

describe('the address of a request', () => {
  it.each([
    ['/api/v2/ping', '/api/v2/ping'],
    ['//api///v2//ping//', '/api/v2/ping/'],
    ['//evil.example/app', '/evil.example/app'],
    ['///', '/'],
    ['/api/v2//ping?next=//x&a=1?//', '/api/v2/ping?next=//x&a=1?//'],
    ['//?//', '/?//'],
    ['/a/%2F%2Fb', '/a/%2F%2Fb'],
    ['http://cadastre.example.com//api/v2/ping?a=http://b', '/api/v2/ping?a=http://b'],
    ['HTTPS://cadastre.example.com', '/'],
    ['http://cadastre.example.com?a=1', '/?a=1'],
    ['*', '*'],
  ])('%s is read as %s', (address, normalized) => {
    expect(normalizeAddress(address)).toBe(normalized);
  });
});

describe('an address in a link', () => {
  it.each([
    ['/a?filter[tagged][0][key]=a%26b&q=%5B', '/a?filter%5Btagged%5D%5B0%5D%5Bkey%5D=a%26b&q=%5B'],
    ['/a/"<{|^`}>"', '/a/%22%3C%7B%7C%5E%60%7D%3E%22'],
    ['/a?q=100%&b=%4&c=\u00e9#', '/a?q=100%25&b=%254&c=%E9%23'],
    ["/a-b_c.d~e!$&'()*+,;=:@/?f", "/a-b_c.d~e!$&'()*+,;=:@/?f"],
  ])('%s is written as %s', (address, escaped) => {
    expect(escapeAddress(address)).toBe(escaped);
  });
});

describe('a request whose path has empty segments', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer({ env: { CADASTRE_PUBLIC_URL: 'https://cadastre.example.com' } });
  });

  afterAll(() => server.close());

  /** Sends an address as it is; `fetch` would change it. */
  const send = async (line: string, { token = server.adminToken, body = '' } = {}) => {
    const connection = new RawConnection(server.url);
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body && { 'content-type': 'application/vnd.api+json', 'content-length': Buffer.byteLength(body) }),
    };
    const answer = await connection.request(line, headers).send(body).answer();
    connection.destroy();
    return { ...answer, json: answer.body ? JSON.parse(answer.body) : null };
  };

  it('reads and writes the same resources', async () => {
    const create = (name: string) =>
      JSON.stringify({ data: { type: 'organizations', attributes: { name, email: 'ops@example.com' } } });
    expect(await send('POST //api/v2//organizations', { body: create('field') })).toMatchObject({ status: 201 });
    const { json } = await send('GET /api/v2//organizations/field/projects?page[size]=1');
    expect(json.data).toHaveLength(1);
    expect(json.links.self).toBe(
      'https://cadastre.example.com/api/v2/organizations/field/projects?page%5Bnumber%5D=1&page%5Bsize%5D=1',
    );
    expect(await send('GET https://other.example.com//api/v2/organizations/field')).toMatchObject({ status: 200 });
  });

  it('needs the same access', async () => {
    for (const line of ['GET //api/v2/organizations/field', 'DELETE /api/v2//organizations/field'])
      expect(await send(line, { token: 'nobody.atlasv1.token' })).toMatchObject({ status: 401 });
  });

  it('leads a browser that must sign in back to a path of this server', async () => {
    const { status, headers } = await send('GET //account//totp');
    expect([status, headers['location']]).toEqual([303, '/sign-in?return_to=%2Faccount%2Ftotp']);
  });
});
