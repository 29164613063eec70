import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { RawConnection } from '../../../../test/support/raw-connection.js';
import { makeMember, makeOrganization, makeWorkspace, resource } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';

const KIB = 1024;
const open: RawConnection[] = [];

afterEach(() => open.splice(0).forEach((connection) => connection.destroy()));

/** Sends the head of a request for a new organization. The test sends the body. */
const request = (
  to: TestServer,
  headers: Readonly<Record<string, string | number>>,
  token = to.adminToken,
): RawConnection => {
  const connection = new RawConnection(to.url);
  open.push(connection);
  const all = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
  return connection.request('POST /api/v2/organizations', all);
};

const detailOf = (body: string): string =>
  (JSON.parse(body) as { errors: { detail: string }[] }).errors[0]?.detail ?? '';

describe('the body of a request', () => {
  const LIMIT = 'The body is too large. This request accepts at most 256 KiB.';
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer();
    await makeOrganization(server, 'acme');
  });

  afterAll(() => server.close());

  it('is refused before it is sent if its length exceeds the limit', async () => {
    const { status, headers, body } = await request(server, { 'content-length': 256 * KIB + 1 }).answer();
    expect([status, detailOf(body), headers['connection']]).toEqual([413, LIMIT, 'close']);
  });

  it('is refused as soon as it exceeds the limit if its length is unknown', async () => {
    const connection = request(server, { 'transfer-encoding': 'chunked' });
    connection.send(`${(256 * KIB + 1).toString(16)}\r\n${' '.repeat(256 * KIB + 1)}`);
    const { status, body } = await connection.answer();
    expect([status, detailOf(body)]).toEqual([413, LIMIT]);
  });

  it('may be as large as the limit', async () => {
    const text = JSON.stringify(resource('organizations', { name: 'padded', email: 'ops@acme.test' }));
    const answer = await server.post('/api/v2/organizations', text + ' '.repeat(256 * KIB - text.length));
    expect(answer.status).toBe(201);
  });

  it('is requested with 100 Continue only after the headers are accepted', async () => {
    const accepted = request(server, { 'content-length': 2, expect: '100-continue' });
    expect((await accepted.answer()).status).toBe(100);
    expect((await accepted.send('{}').answer()).status).toBe(422);
    for (const [headers, token, status] of [
      [{ 'content-length': 300 * KIB }, server.adminToken, 413],
      [{ 'content-length': 2 }, 'nobody.atlasv1.token', 401],
      [{ 'content-length': 2, 'content-type': 'text/plain' }, server.adminToken, 415],
    ] as const) {
      const refused = request(server, { ...headers, expect: '100-continue' }, token);
      expect((await refused.answer()).status).toBe(status);
    }
  });

  it('is refused with an error that names the accepted media type', async () => {
    for (const type of [
      'text/plain',
      'nonsense',
      'application/jsonx',
      'application/vnd.api+json2',
      'application/octet-stream',
    ]) {
      const { status, body } = await request(server, { 'content-length': 2, 'content-type': type }).send('{}').answer();
      const detail = `The media type "${type}" is not supported. Send application/vnd.api+json, or application/json.`;
      expect([status, detailOf(body)]).toEqual([415, detail]);
    }
  });

  it('may be empty and chunked, whatever the route accepts', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'locked');
    const connection = new RawConnection(server.url);
    open.push(connection);
    const headers = { authorization: `Bearer ${server.adminToken}`, 'transfer-encoding': 'chunked' };
    connection.request(`POST /api/v2/workspaces/${workspace}/actions/lock`, headers).send('0\r\n\r\n');
    expect((await connection.answer()).status).toBe(200);
  });

  it('is ignored if it ends before its length, and the server continues', async () => {
    const text = JSON.stringify(resource('organizations', { name: 'cut', email: 'ops@acme.test' }));
    const connection = request(server, { 'content-length': text.length + 1 }).send(text);
    connection.destroy();
    await connection.closed;
    expect((await server.get('/api/v2/organizations/cut')).status).toBe(404);
  });
});

describe('an unfinished body', () => {
  it('gets 408 after the time for it, however slowly bytes arrive', async () => {
    const server = await startTestServer({ limits: { bodyMs: 300, drainMs: 100 } });
    try {
      const connection = request(server, { 'content-length': 200 * KIB });
      const dripping = setInterval(() => connection.send('x'), 20);
      const { status, headers, body } = await connection.answer();
      expect([status, headers['connection'], detailOf(body)]).toEqual([
        408,
        'close',
        'The body did not arrive within 0.3 seconds.',
      ]);
      await connection.closed;
      clearInterval(dripping);
    } finally {
      await server.close();
    }
  });

  describe('if the server has little memory', () => {
    let server: TestServer;
    let member: string;

    beforeAll(async () => {
      server = await startTestServer({ limits: { bodyMemory: { total: 500 * KIB, perCaller: 300 * KIB } } });
      await makeOrganization(server, 'acme');
      member = (await makeMember(server, 'acme', 'greedy')).token;
    });

    afterAll(() => server.close());

    /** Sends the beginning of a body without its end. */
    const sendPart = (bytes: number, token?: string): RawConnection =>
      request(server, { 'content-length': 250 * KIB }, token).send('x'.repeat(bytes));

    it('gets 429 if its caller exceeds the limit of a caller', async () => {
      const connections = [sendPart(200 * KIB), sendPart(200 * KIB)];
      const { status, headers, body } = await Promise.race(connections.map((connection) => connection.answer()));
      expect([status, headers['retry-after']]).toEqual([429, '1']);
      expect(detailOf(body)).toMatch(/hold too much memory/);
    });

    it('gets 429 if its state is larger than the share of memory of its caller', async () => {
      const workspace = await makeWorkspace(server, 'acme', 'stateful');
      const states = `POST /api/v2/workspaces/${workspace}/state-versions`;
      const headers = { authorization: `Bearer ${server.adminToken}`, 'content-length': 400 * KIB };
      const connection = new RawConnection(server.url);
      open.push(connection);
      const { status, body } = await connection
        .request(states, headers)
        .send('x'.repeat(350 * KIB))
        .answer();
      expect([status, detailOf(body)]).toEqual([429, expect.stringMatching(/hold too much memory/)]);
      // Its bytes are no longer counted.
      expect((await server.patch('/api/v2/organizations/acme', resource('organizations', {}))).status).toBe(200);
    });

    it('gets 503 if the memory is full and its caller uses most of it, while other requests continue', async () => {
      const greedy = [sendPart(140 * KIB, member), sendPart(140 * KIB, member)];
      const otherConnections = [sendPart(130 * KIB), sendPart(120 * KIB)];
      const { status, headers } = await Promise.race(greedy.map((connection) => connection.answer()));
      expect([status, headers['retry-after']]).toEqual([503, '1']);
      expect((await server.patch('/api/v2/organizations/acme', resource('organizations', {}))).status).toBe(200);
      expect(otherConnections).toHaveLength(2);
    });
  });
});
