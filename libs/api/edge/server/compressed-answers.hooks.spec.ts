import http, { type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SESSION_COOKIE } from '#api/access';
import {
  expectStatus,
  makeConfigurationVersion,
  makeMember,
  makeOrganization,
  makeRun,
  makeWorkspace,
} from '../../../../test/support/seeds.js';
import { makeProvider, makeVersion, pathOfVersions } from '../../../../test/support/registry.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { startTestSession } from '../../../../test/support/sessions.js';

const WORKSPACES = 4;
const VERSIONS = 6;
const RUNS = 2;
const LIST = '/api/v2/organizations/acme/workspaces';
const MIN_BYTES = 4_096;

let server: TestServer;
let cookie: string;

beforeAll(async () => {
  server = await startTestServer();
  const { ownersTeam } = await makeOrganization(server, 'acme');
  for (let number = 0; number < WORKSPACES; number += 1) await makeWorkspace(server, 'acme', `network-${number}`);
  const { id } = await makeMember(server, 'acme', 'olga', [ownersTeam]);
  const { secret } = await startTestSession(server, id);
  cookie = `${SESSION_COOKIE}=${secret}`;
});

afterAll(() => server.close());

type Answer = { readonly status: number; readonly headers: IncomingMessage['headers']; readonly bytes: Buffer };

/** `fetch` hides how an answer was sent. */
const get = (path: string, headers: Readonly<Record<string, string>>, method = 'GET'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    http
      .request(`${server.url}${path}`, { method, headers }, (response) => {
        buffer(response).then(
          (bytes) => resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes }),
          reject,
        );
      })
      .once('error', reject)
      .end();
  });

const withToken = () => ({ authorization: `Bearer ${server.adminToken}` });

const countRows = (content: Buffer): number => (JSON.parse(content.toString()) as { data: unknown[] }).data.length;

describe('a document that answers a GET', () => {
  it.each([
    ['br', 'gzip, deflate, br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['gzip', 'br;q=0, *', gunzipSync],
  ] as const)('is sent with %s to a client that accepts %s', async (encoding, accepted, decompress) => {
    const plain = await get(LIST, withToken());
    const { status, headers, bytes } = await get(LIST, { ...withToken(), 'accept-encoding': accepted });
    expect([status, headers['content-encoding'], headers['vary']]).toEqual([
      200,
      encoding,
      'accept-encoding, sec-fetch-site',
    ]);
    expect(headers['content-length']).toBe(String(bytes.length));
    expect(bytes.length).toBeLessThan(plain.bytes.length / 4);
    expect(countRows(decompress(bytes))).toBe(WORKSPACES);
  });

  it('is sent as it is to clients that accept no encoding, and to HEAD', async () => {
    for (const accepted of ['identity', 'deflate', 'br;q=0, gzip;q=0.000'])
      expect(
        (await get(LIST, { ...withToken(), 'accept-encoding': accepted })).headers['content-encoding'],
      ).toBeUndefined();
    const head = await get(LIST, { ...withToken(), 'accept-encoding': 'br' }, 'HEAD');
    expect([head.status, head.headers['content-encoding']]).toEqual([200, undefined]);
  });

  it('is sent as it is if it is small, or no success', async () => {
    const headers = { ...withToken(), 'accept-encoding': 'br' };
    const small = await get('/api/v2/organizations/acme/projects', headers);
    expect(small.bytes.length).toBeLessThan(MIN_BYTES);
    expect([small.status, small.headers['content-encoding']]).toEqual([200, undefined]);
    const missing = await get(`/api/v2/organizations/${'x'.repeat(MIN_BYTES)}/workspaces`, headers);
    expect([missing.status >= 400, missing.headers['content-encoding']]).toEqual([true, undefined]);
  });

  it('is compressed for a session only if the browser says that a page of this site asks', async () => {
    const send = (site: Readonly<Record<string, string>>) => get(LIST, { cookie, 'accept-encoding': 'br', ...site });
    const own = await send({ 'sec-fetch-site': 'same-origin' });
    expect(own.headers['content-encoding']).toBe('br');
    for (const site of ['cross-site', 'same-site', 'none', ''])
      expect((await send({ 'sec-fetch-site': site })).headers['content-encoding']).toBeUndefined();
    const unnamed = await send({});
    expect(unnamed.headers['content-encoding']).toBeUndefined();
    expect(countRows(unnamed.bytes)).toBe(WORKSPACES);
  });

  it('is sent as it is if it contains signed links', async () => {
    await makeProvider(server, 'acme', 'aws');
    for (let patch = 0; patch < VERSIONS; patch += 1) await makeVersion(server, 'acme', 'aws', `1.0.${patch}`);
    const { bytes, headers } = await get(pathOfVersions('acme', 'aws'), { ...withToken(), 'accept-encoding': 'br' });
    expect(bytes.length).toBeGreaterThan(MIN_BYTES);
    expect(bytes.toString()).toContain('/v2/uploads/');
    expect(headers['content-encoding']).toBeUndefined();
  });

  it('is sent as it is if it contains the addresses of logs', async () => {
    const [workspace] = expectStatus(await server.get(LIST), 200).body.data;
    const id = workspace.id as string;
    await makeConfigurationVersion(server, id);
    for (let number = 0; number < RUNS; number += 1) await makeRun(server, id);
    const path = `/api/v2/workspaces/${id}/runs?include=plan,apply`;
    const { bytes, headers } = await get(path, { ...withToken(), 'accept-encoding': 'br' });
    expect(bytes.length).toBeGreaterThan(MIN_BYTES);
    expect(bytes.toString()).toContain('/v2/logs/');
    expect(headers['content-encoding']).toBeUndefined();
  });
});
