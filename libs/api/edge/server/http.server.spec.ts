import { Module } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EncryptionKeys } from '#platform/encryption';
import { EventStore, EventStoreModule } from '#storage/event-store';
import { Database } from '#platform/postgres';
import { NestLoggerAdapter } from '#platform/host';
import { readWholeLog } from '../../../../test/support/event-log.js';
import { expectStatus, makeOrganization, resource } from '../../../../test/support/seeds.js';
import { createApiTestClient, startTestServer, type TestServer } from '../../../../test/support/server.js';
import { HealthController } from '../health/health.controller.js';
import { Readiness } from '../health/server.readiness.js';
import { createHttpServer } from './http.server.js';

let server: TestServer;
/** A server with trusted proxies. */
let trusting: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  trusting = await startTestServer({ env: { CADASTRE_TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' } });
  for (const one of [server, trusting]) await makeOrganization(one, 'acme');
});

afterAll(() => Promise.all([server.close(), trusting.close()]));

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

type Init = { readonly method?: string; readonly headers?: Record<string, string>; readonly body?: string };

const send = async (path: string, { headers, ...init }: Init = {}, to = server): Promise<Response> =>
  fetch(`${to.url}${path}`, { ...init, headers: { authorization: `Bearer ${to.adminToken}`, ...headers } });

const post = (contentType: string | null, name: string): Promise<Response> =>
  send('/api/v2/organizations', {
    method: 'POST',
    headers: contentType === null ? {} : { 'content-type': contentType },
    body: JSON.stringify(resource('organizations', { name, email: 'ops@acme.test' })),
  });

describe('a request', () => {
  it('keeps its own id in the response and in the events', async () => {
    const id = '0190F3A0-1111-4222-8333-444455556666';
    const response = await send('/api/v2/organizations/acme', {
      method: 'PATCH',
      headers: { 'x-request-id': id, 'user-agent': 'a client', 'content-type': 'application/vnd.api+json' },
      body: JSON.stringify(resource('organizations', { 'session-timeout': 5 })),
    });
    expect([response.status, response.headers.get('x-request-id')]).toEqual([200, id.toLowerCase()]);
    const event = (await readWholeLog(server.store)).at(-1);
    expect(event).toMatchObject({
      type: 'OrganizationUpdated',
      context: {
        request: { id: id.toLowerCase(), address: '127.0.0.1', userAgent: 'a client' },
        correlation: id.toLowerCase(),
      },
    });
  });

  describe('through a proxy', () => {
    let timeout = 10;

    const addressOf = async (to: TestServer, forwarded: string): Promise<string | null | undefined> => {
      const change = resource('organizations', { 'session-timeout': (timeout += 1) });
      const headers = { 'content-type': 'application/vnd.api+json', 'x-forwarded-for': forwarded };
      const init = { method: 'PATCH', headers, body: JSON.stringify(change) };
      expect((await send('/api/v2/organizations/acme', init, to)).status).toBe(200);
      return (await readWholeLog(to.store)).at(-1)?.context.request.address;
    };

    it('has the address of the proxy if the proxy is not trusted', async () => {
      expect(await addressOf(server, '203.0.113.9')).toBe('127.0.0.1');
    });

    it.each([
      ['203.0.113.9', '203.0.113.9'],
      ['2001:db8::9', '2001:db8::9'],
      ['198.51.100.1, 203.0.113.9', '203.0.113.9'],
      ['198.51.100.1, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
      ['::ffff:203.0.113.9', '203.0.113.9'],
      ['203.0.113.9:4711', '203.0.113.9'],
      ['[2001:db8::9]:443', '2001:db8::9'],
      // The address is unknown. That of the proxy would be wrong.
      ['unknown', null],
      [`203.0.113.9, ${'x'.repeat(5_000)}`, null],
      ['', '127.0.0.1'],
    ])('has the last address of %j that is not a trusted proxy: %s', async (forwarded, address) => {
      expect(await addressOf(trusting, forwarded)).toBe(address);
    });
  });

  it('is recorded with a shortened user agent if that is too long', async () => {
    await send('/api/v2/organizations/acme', {
      method: 'PATCH',
      headers: { 'user-agent': 'a client'.repeat(1_000), 'content-type': 'application/vnd.api+json' },
      body: JSON.stringify(resource('organizations', { 'session-timeout': 6 })),
    });
    const { context } = (await readWholeLog(server.store)).at(-1) ?? {};
    expect(context?.request.userAgent).toBe('a client'.repeat(64));
  });

  it.each(['', 'mine', '1', "'; drop table events; --"])(
    'gets a new id if its own is missing or no UUID: %j',
    async (ownId) => {
      const ids = await Promise.all(
        [1, 2].map(async () =>
          (await send('/api/v2/ping', { headers: { 'x-request-id': ownId } })).headers.get('x-request-id'),
        ),
      );
      for (const id of ids) expect(id).toMatch(UUID);
      expect(ids[0]).not.toBe(ids[1]);
    },
  );

  it('has an id if it is refused', async () => {
    for (const path of ['/api/v2/nothing', '/api/v2/organizations/nobody']) {
      expect((await send(path)).headers.get('x-request-id')).toMatch(UUID);
    }
  });

  it.each([
    'application/vnd.api+json',
    'application/vnd.api+json; charset=utf-8',
    'application/json',
    'application/json; charset=UTF-8',
  ])('is accepted as JSON with the media type %s', async (contentType) => {
    const name = `media-${contentType.length}`;
    const response = await post(contentType, name);
    expect(response.status).toBe(201);
    expect(response.headers.get('content-type')).toMatch(/^application\/vnd\.api\+json/);
  });

  it.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'application/octet-stream'])(
    'is refused with the media type %s',
    async (contentType) => {
      const response = await post(contentType, 'unheard');
      expect(response.status).toBe(415);
      expect(response.headers.get('content-type')).toMatch(/^application\/vnd\.api\+json/);
      const { errors } = (await response.json()) as { errors: unknown[] };
      const detail = expect.stringContaining('Send application/vnd.api+json');
      expect(errors).toMatchObject([{ status: '415', title: 'unsupported media type', detail }]);
      expect((await send('/api/v2/organizations/unheard')).status).toBe(404);
    },
  );

  it('is the same with a slash at its end', async () => {
    const [plain, slashed] = await Promise.all(['', '/'].map((end) => send(`/api/v2/organizations/acme${end}`)));
    expect([plain?.status, await plain?.json()]).toEqual([200, await slashed?.json()]);
  });

  it.each([
    ['application/vnd.api+json', undefined],
    ['application/x-www-form-urlencoded', undefined],
    ['application/x-www-form-urlencoded', ''],
    ['text/plain', ''],
    ['application/octet-stream', ''],
  ])('may have any media type if it has no body: %s, %j', async (contentType, body) => {
    const response = await send('/api/v2/organizations/acme/authentication-token', {
      method: 'POST',
      headers: { 'content-type': contentType },
      ...(body === undefined ? {} : { body }),
    });
    expect(response.status).toBe(201);
  });
});

describe('a request for an unknown address', () => {
  it.each([
    ['GET', '/api'],
    ['GET', '/api/v2'],
    ['GET', '/api/v2/moons'],
    ['GET', '/api/v2/organizations/acme/moons'],
    ['POST', '/api/v2/moons'],
    ['PUT', '/api/v2/moons/acme'],
    ['GET', '/api/v1/organizations'],
  ])('gets 404 as JSON:API, with or without a token: %s %s', async (method, path) => {
    for (const caller of [{}, { authorization: '' }]) {
      const response = await send(path, { method, headers: caller });
      expect(response.status).toBe(404);
      expect(response.headers.get('content-type')).toMatch(/^application\/vnd\.api\+json/);
      expect(await response.json()).toEqual({
        errors: [{ status: '404', title: 'not found', detail: 'Not found' }],
      });
    }
  });
});

describe('a caller', () => {
  it.each([
    ['no header', null],
    ['another scheme', 'Basic YWRtaW46YWRtaW4='],
    ['a scheme alone', 'Bearer'],
    ['a token that nobody has', 'Bearer nobodys.atlasv1.token'],
    ['two tokens', 'Bearer one two'],
  ])('is refused with %s', async (_, authorization) => {
    const headers: Record<string, string> = authorization === null ? {} : { authorization };
    const response = await fetch(`${server.url}/api/v2/organizations`, { headers });
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ errors: [{ status: '401', title: 'unauthorized' }] });
  });

  it('is accepted with the scheme in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER ']) {
      const headers = { authorization: `${scheme} ${server.adminToken}` };
      expect((await send('/api/v2/account/details', { headers })).status).toBe(200);
    }
  });
});

describe('a caller without a token', () => {
  const get = async (path: string): Promise<{ response: Response; text: string }> => {
    const response = await fetch(`${server.url}${path}`);
    return { response, text: await response.text() };
  };

  it('gets the discovery document with exactly the media type that the CLI accepts', async () => {
    const { response, text } = await get('/.well-known/terraform.json');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(JSON.parse(text)).toEqual({
      'login.v1': {
        client: 'terraform-cli',
        grant_types: ['authz_code'],
        authz: '/oauth/authorize',
        token: '/oauth/token',
        ports: [10_000, 10_010],
      },
      'modules.v1': '/api/registry/v1/modules/',
      'motd.v1': '/api/terraform/motd',
      'providers.v1': '/api/registry/v1/providers/',
      'state.v2': '/api/v2/',
      'tfe.v2': '/api/v2/',
      'tfe.v2.1': '/api/v2/',
      'tfe.v2.2': '/api/v2/',
    });
  });

  it('gets the API version in the headers of ping, without a rate limit if there is none', async () => {
    const { response, text } = await get('/api/v2/ping');
    expect([response.status, text]).toEqual([204, '']);
    expect(response.headers.get('tfp-api-version')).toBe('2.6');
    expect(response.headers.get('tfp-appname')).toMatch(/\w/);
    // Terraform reads it in this way (internal/backend/remote/backend_plan.go).
    expect(Number(response.headers.get('x-tfe-version')?.slice(1).split('-')[0])).toBeGreaterThanOrEqual(202_302);
    expect(response.headers.get('x-tfe-current-version')).toMatch(/^\d+\.\d+\.\d+$/);
    expect(response.headers.has('x-ratelimit-limit')).toBe(false);
  });

  it.each(['/healthz', '/readyz'])('gets 200 from %s', async (path) => {
    const { response, text } = await get(path);
    expect([response.status, text]).toEqual([200, '{"status":"ok"}']);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  });

  it('gets metrics in the format of Prometheus', async () => {
    const { response, text } = await get('/metrics');
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      expect.stringMatching(/^text\/plain/),
    ]);
    expect(text).not.toContain('acme');
    for (const line of text.split('\n').filter(Boolean))
      expect(line).toMatch(/^(?:#|[a-z_\d]+(?:\{.*\})? [-+\d.eNaInf]+$)/);
  });
});

describe('a process whose database is down', () => {
  @Module({})
  class NothingBehind {}

  it('is alive and not ready', async () => {
    const { clock, ids, logger } = server.runtime;
    // No server listens on this port.
    const url = 'postgres://127.0.0.1:1/nowhere';
    const database = new Database({ url, connections: 1, applicationName: 'test' });
    const parts = {
      store: new EventStore(database, {}, [], clock, ids, new EncryptionKeys(Buffer.alloc(32))),
      clock,
      ids,
    };
    const root = {
      module: NothingBehind,
      imports: [EventStoreModule.with(parts)],
      controllers: [HealthController],
      providers: [Readiness],
    };
    const app = await createHttpServer(root, { tls: null, logger: new NestLoggerAdapter(logger) });
    await app.listen(0, '127.0.0.1');
    const caller = createApiTestClient(await app.getUrl(), null);
    try {
      expectStatus(await caller.get('/healthz'), 200);
      const { body, headers } = expectStatus(await caller.get('/readyz'), 503);
      expect(body.errors).toMatchObject([{ status: '503', title: 'unavailable' }]);
      expect(headers.get('retry-after')).toBe('1');
    } finally {
      await app.close();
      await database.close();
    }
  });
});
