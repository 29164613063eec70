import { Controller, Get, Module, Post, type Type } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  AccessModule,
  ConfigureRoute,
  CurrentActor,
  OptionalActor,
  Page,
  Public,
  SESSION_COOKIE,
  type Actor,
} from '#api/access';
import { EventStoreModule } from '#storage/event-store';
import { NestLoggerAdapter } from '#platform/host';
import { RawConnection, type RawAnswer } from '../../../../test/support/raw-connection.js';
import { makeMember, makeOrganization, makeWorkspace } from '../../../../test/support/seeds.js';
import { startTestSession } from '../../../../test/support/sessions.js';
import {
  createApiTestClient,
  startTestServer,
  type ApiTestClient,
  type TestServer,
} from '../../../../test/support/server.js';
import { createHttpServer } from './http.server.js';

const ORIGIN = 'https://cadastre.test';
const LARGE = 100 * 1024 * 1024;

let server: TestServer;
const open: RawConnection[] = [];

beforeAll(async () => {
  server = await startTestServer();
  await makeOrganization(server, 'acme');
});

afterEach(() => open.splice(0).forEach((connection) => connection.destroy()));
afterAll(() => server.close());

/** Sends the head of a request without its body, and returns the response. */
const answerToHead = (
  line: string,
  token: string | null,
  headers: Readonly<Record<string, string | number>> = { 'content-length': LARGE },
): Promise<RawAnswer> => {
  const connection = new RawConnection(server.url);
  open.push(connection);
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  return connection.request(line, { 'content-type': 'application/json', ...authorization, ...headers }).answer();
};

describe('the server, before it reads a body', () => {
  const routes = [
    'POST /api/v2/organizations',
    'PATCH /api/v2/organizations/acme',
    'POST /api/v2/workspaces/ws-none/state-versions',
    'DELETE /api/v2/workspaces/ws-none/relationships/tags',
    'PUT /api/v2/varsets/varset-none',
  ];

  it.each(routes)('refuses a caller without a token: %s', async (line) => {
    for (const headers of [{ 'content-length': 10 }, { 'content-length': LARGE }, { 'transfer-encoding': 'chunked' }]) {
      const { status, body } = await answerToHead(line, null, headers);
      expect([status, JSON.parse(body)]).toEqual([
        401,
        { errors: [{ status: '401', title: 'unauthorized', detail: expect.any(String) }] },
      ]);
    }
  });

  it.each(routes)('refuses an unknown token: %s', async (line) => {
    expect((await answerToHead(line, 'nobody.atlasv1.token')).status).toBe(401);
  });

  it('refuses a large state with 404 if the caller has no permission', async () => {
    const workspace = await makeWorkspace(server, 'acme', 'vault');
    const { token } = await makeMember(server, 'acme', 'reader');
    for (const id of [workspace, 'ws-none']) {
      const { status } = await answerToHead(`POST /api/v2/workspaces/${id}/state-versions`, token);
      expect({ id, status }).toEqual({ id, status: 404 });
    }
  });
});

describe('a route', () => {
  let api: ApiTestClient;
  let address: string;
  let close: () => Promise<void>;

  @Controller()
  class Routes {
    @Post('silent')
    silent(@CurrentActor() { id }: Actor): object {
      return { id };
    }

    @Post('open')
    @Public()
    @ConfigureRoute({ bodyLimit: 1_000 })
    public(): object {
      return {};
    }
  }

  @Controller('all')
  @Public()
  class OpenRoutes {
    @Post()
    open(): object {
      return {};
    }
  }

  @Controller('pages')
  class Pages {
    @Get('own')
    @Page()
    own(@CurrentActor() { id }: Actor): object {
      return { id };
    }

    @Post('own')
    @Page()
    change(@CurrentActor() { id }: Actor): object {
      return { id };
    }

    @Post('public')
    @Page({ isPublic: true })
    public(@OptionalActor() actor: Actor | null): object {
      return { id: actor?.id ?? null };
    }
  }

  @Module({})
  class Gateway {}

  beforeAll(async () => {
    const { logger } = server.runtime;
    const controllers: Type[] = [Routes, OpenRoutes, Pages];
    const sessions = { idleMs: 60_000, siteOrigin: ORIGIN };
    const imports = [
      EventStoreModule.with(server.runtime),
      AccessModule.with({ wrongTokens: null, sessions, requiresTwoFactor: false, recoverableDays: 30 }),
    ];
    const root = { module: Gateway, imports, controllers };
    const app = await createHttpServer(root, { tls: null, logger: new NestLoggerAdapter(logger) });
    await app.listen(0, '127.0.0.1');
    address = await app.getUrl();
    api = createApiTestClient(address, server.adminToken);
    close = () => app.close();
  });

  afterAll(() => close());

  it('requires a token by default', async () => {
    expect((await api.as(null).post('/silent', {})).status).toBe(401);
    expect((await api.as(null).post('/silent')).status).toBe(401);
    expect((await api.post('/silent', {})).status).toBe(201);
  });

  it('requires no token if it or its controller is public', async () => {
    for (const path of ['/open', '/all']) {
      for (const body of [undefined, {}]) expect((await api.as(null).post(path, body)).status).toBe(201);
    }
  });

  describe('for a page', () => {
    let cookie: string;
    let person: string;

    beforeAll(async () => {
      person = (await makeMember(server, 'acme', 'page-reader')).id;
      cookie = `${SESSION_COOKIE}=${(await startTestSession(server, person)).secret}`;
    });

    const send = async (method: string, path: string, headers: Record<string, string>) => {
      const response = await fetch(`${address}${path}`, { method, headers, redirect: 'manual' });
      const text = await response.text();
      return { status: response.status, to: response.headers.get('location'), text };
    };

    it('answers a person with a session', async () => {
      expect(await send('GET', '/pages/own', { cookie })).toMatchObject({
        status: 200,
        text: JSON.stringify({ id: person }),
      });
    });

    it('sends people without a valid session to the sign-in page, which sends them back', async () => {
      const to = '/sign-in?return_to=%2Fpages%2Fown%3Ftab%3D1';
      for (const headers of [
        {},
        { cookie: `${SESSION_COOKIE}=wrong` },
        { authorization: `Bearer ${server.adminToken}` },
      ]) {
        expect(await send('GET', '/pages/own?tab=1', headers as Record<string, string>)).toMatchObject({
          status: 303,
          to,
        });
      }
    });

    it('refuses a form of another site, also without a session', async () => {
      for (const path of ['/pages/own', '/pages/public']) {
        for (const origin of ['https://evil.test', 'null', '']) {
          expect(await send('POST', path, { cookie, ...(origin ? { origin } : {}) })).toMatchObject({ status: 403 });
        }
      }
      expect(await send('POST', '/pages/public', { origin: 'https://evil.test' })).toMatchObject({ status: 403 });
    });

    it('accepts a form of the own site', async () => {
      expect(await send('POST', '/pages/own', { cookie, origin: ORIGIN })).toMatchObject({ status: 201 });
      expect(await send('POST', '/pages/public', { origin: ORIGIN })).toMatchObject({
        status: 201,
        text: '{"id":null}',
      });
    });
  });
});
