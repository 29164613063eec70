import { Controller, Get, Module, Post } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Public } from '#api/access';
import { EventStoreModule } from '#storage/event-store';
import { NestLoggerAdapter } from '#platform/host';
import { waitUntil } from '../../../../test/support/product.js';
import { RawConnection } from '../../../../test/support/raw-connection.js';
import { makeOrganization } from '../../../../test/support/seeds.js';
import { startTestServer, type TestServer } from '../../../../test/support/server.js';
import { HealthController } from '../health/health.controller.js';
import { PingController } from '../health/ping.controller.js';
import { Readiness } from '../health/server.readiness.js';
import { createHttpServer } from './http.server.js';
import type { UnansweredLimits } from './request-admission.js';

const MAX = 16;
const LONG_MS = 60_000;

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ env: { CADASTRE_MAX_UNANSWERED_REQUESTS: String(MAX), CADASTRE_MAX_WAIT_MS: '0' } });
});
afterAll(() => server?.close());

/** Requests that are in the handler. Each waits until the test lets it end. */
let waiting: (() => void)[] = [];
let most = 0;

const waitForTest = (): Promise<string> =>
  new Promise((resolve) => {
    waiting.push(() => resolve('done'));
    most = Math.max(most, waiting.length);
  });

const endAll = (): void => waiting.splice(0).forEach((end) => end());

@Controller()
@Public()
class WaitingController {
  @Get('wait')
  read(): Promise<string> {
    return waitForTest();
  }

  @Post('wait')
  write(): Promise<string> {
    return waitForTest();
  }
}

@Module({})
class WaitingModule {}

let app: NestFastifyApplication | null = null;
const connections: RawConnection[] = [];

afterEach(async () => {
  connections.splice(0).forEach((connection) => connection.destroy());
  endAll();
  most = 0;
  await app?.close();
  app = null;
});

const open = async (unanswered: Partial<UnansweredLimits>): Promise<string> => {
  const { store, clock, ids, logger } = server.runtime;
  const root = {
    module: WaitingModule,
    imports: [EventStoreModule.with({ store, clock, ids })],
    controllers: [WaitingController, HealthController, PingController],
    providers: [Readiness],
  };
  app = await createHttpServer(root, {
    tls: null,
    logger: new NestLoggerAdapter(logger),
    limits: { unanswered: { max: MAX, targetMs: LONG_MS, waitMs: LONG_MS, ...unanswered } },
  });
  await app.listen(0, '127.0.0.1');
  return (await app.getUrl()).replace('[::1]', '127.0.0.1');
};

const send = (url: string, caller: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${url}/wait`, { ...init, headers: { authorization: `Bearer ${caller}` } });

const sendMany = (url: string, count: number, callerOf: (n: number) => string): Promise<Response>[] =>
  Array.from({ length: count }, (_, n) => send(url, callerOf(n)));

const isRunning = (count: number) => (): boolean => waiting.length === count;

describe('a server with more requests than it works on', () => {
  it('refuses the rest with 503 and Retry-After, and accepts requests when the others have ended', async () => {
    const url = await open({ waitMs: 0 });
    const all = sendMany(url, MAX + 8, (n) => `caller-${n}`);
    const refused: Response[] = [];
    for (const response of all) void response.then((one) => one.status === 503 && refused.push(one));
    await waitUntil(() => refused.length === 8, '8 requests are refused');
    expect(waiting.length).toBe(MAX);
    endAll();
    const responses = await Promise.all(all);
    expect(responses.map(({ status }) => status).toSorted()).toEqual([
      ...Array<number>(MAX).fill(200),
      ...Array<number>(8).fill(503),
    ]);
    expect(most).toBe(MAX);
    const next = send(url, 'next');
    await waitUntil(isRunning(1), 'the next request runs');
    endAll();
    expect((await next).status).toBe(200);
  });

  it('names the setting in a JSON:API error', async () => {
    const url = await open({ waitMs: 0 });
    const all = sendMany(url, MAX, (n) => `caller-${n}`);
    await waitUntil(isRunning(MAX), 'the limit is reached');
    const id = '0190f3a0-1111-4222-8333-444455556666';
    const refused = await fetch(`${url}/wait`, { headers: { 'x-request-id': id } });
    expect(refused.status).toBe(503);
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'content-type': 'application/vnd.api+json',
      'retry-after': '1',
      'x-request-id': id,
    });
    expect(await refused.json()).toEqual({
      errors: [
        {
          status: '503',
          title: 'unavailable',
          detail: expect.stringContaining('CADASTRE_MAX_UNANSWERED_REQUESTS'),
        },
      ],
    });
    endAll();
    await Promise.all(all);
  });

  it('serves health, metrics and ping', async () => {
    const url = await open({ waitMs: 0 });
    const all = sendMany(url, MAX, (n) => `caller-${n}`);
    await waitUntil(isRunning(MAX), 'the limit is reached');
    const statuses = await Promise.all(
      ['/healthz', '/readyz', '/metrics', '/metrics?x=1', '/api/v2/ping'].map(
        async (path) => (await fetch(`${url}${path}`)).status,
      ),
    );
    expect(statuses).toEqual([200, 200, 200, 200, 204]);
    endAll();
    await Promise.all(all);
  });

  it('lets a request wait for the end of another one', async () => {
    const url = await open({});
    const all = sendMany(url, MAX + 1, (n) => `caller-${n}`);
    await waitUntil(isRunning(MAX), 'the limit is reached');
    waiting.shift()?.();
    await waitUntil(isRunning(MAX), 'the waiting request runs');
    endAll();
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(Array<number>(MAX + 1).fill(200));
    expect(most).toBe(MAX);
  });

  it('has a place for another caller, and for writes', async () => {
    const url = await open({});
    const all = sendMany(url, 2 * MAX, () => 'greedy');
    await waitUntil(() => waiting.length >= 13, 'the share of one caller is reached');
    expect(waiting.length).toBe(13);
    const others = [send(url, 'modest'), send(url, 'greedy', { method: 'POST' })];
    await waitUntil(isRunning(15), 'the requests of the others run');
    const ended = setInterval(endAll, 1);
    const responses = await Promise.all([...all, ...others]);
    clearInterval(ended);
    expect(new Set(responses.map(({ ok }) => ok))).toEqual(new Set([true]));
  });

  it('gives a caller no second share for another spelling of its token', async () => {
    const url = await open({});
    const schemes = ['Bearer', 'bearer', 'BEARER', 'Bearer ', 'bearer  '];
    const all = Array.from({ length: 2 * MAX }, (_, n) =>
      fetch(`${url}/wait`, { headers: { authorization: `${schemes[n % schemes.length]} greedy` } }),
    );
    await waitUntil(() => waiting.length >= 13, 'the share of one caller is reached');
    expect(waiting.length).toBe(13);
    const other = send(url, 'modest');
    await waitUntil(isRunning(14), 'the request of another caller runs');
    const ended = setInterval(endAll, 1);
    const responses = await Promise.all([...all, other]);
    clearInterval(ended);
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200));
  });

  it('counts a GET whose body does not arrive', async () => {
    const url = await open({ waitMs: 0 });
    for (let n = 0; n < MAX; n += 1) {
      const headers = { authorization: `Bearer ${n}`, 'content-length': 10 };
      connections.push(new RawConnection(url).request('GET /wait', headers));
      await waitUntil(isRunning(n + 1), 'the request runs');
    }
    expect((await send(url, 'another')).status).toBe(503);
    endAll();
  });

  it('does not count requests whose bodies are still arriving', async () => {
    const url = await open({ waitMs: 0 });
    const headers = { 'content-type': 'application/json', 'content-length': 10 };
    for (let n = 0; n < 2 * MAX; n += 1) {
      const connection = new RawConnection(url).request('POST /wait', { ...headers, authorization: `Bearer ${n}` });
      connections.push(connection.send('{"a"'));
      // One after the other: each stops counting when the server has seen that its body is incomplete.
      const whole = send(url, `whole-${n}`, { method: 'POST' });
      await waitUntil(isRunning(1), 'a request with a complete body runs');
      endAll();
      expect((await whole).status).toBe(201);
    }
    for (const connection of connections.slice(0, MAX)) connection.send(':1   }');
    await waitUntil(isRunning(MAX), 'the requests run when their bodies have arrived');
    endAll();
    for (const connection of connections.slice(0, MAX)) expect((await connection.answer()).status).toBe(201);
  });

  it('forgets requests whose clients have disconnected', async () => {
    const url = await open({});
    const all = sendMany(url, MAX, (n) => `caller-${n}`);
    await waitUntil(isRunning(MAX), 'the limit is reached');
    const disconnecting = new RawConnection(url).request('GET /wait');
    const last = send(url, 'last');
    disconnecting.destroy();
    await disconnecting.closed;
    endAll();
    await Promise.all(all);
    await waitUntil(() => waiting.length > 0, 'the last request runs');
    endAll();
    expect((await last).status).toBe(200);
  });

  it('closes the connection of a refused request with a large body', async () => {
    const url = await open({ waitMs: 0 });
    const all = Array.from({ length: MAX }, (_, n) => send(url, `caller-${n}`, { method: 'POST' }));
    await waitUntil(isRunning(MAX), 'the limit is reached');
    const large = new RawConnection(url).request('POST /wait', { 'content-length': 200_000 });
    connections.push(large);
    const { status, headers } = await large.answer();
    expect([status, headers['connection']]).toEqual([503, 'close']);
    endAll();
    await Promise.all(all);
  });
});

describe('a flood of many more requests than the server works on', () => {
  const CLIENTS = 200;
  const ENOUGH = 500;

  it('is answered in part, refused in part, and leaves nothing behind', async () => {
    await makeOrganization(server, 'acme');
    const { database } = server;
    const query = database.rows.bind(database);
    let running = 0;
    let mostRunning = 0;
    database.rows = async <T>(statement: Parameters<typeof query>[0]): Promise<T[]> => {
      running += 1;
      mostRunning = Math.max(mostRunning, running);
      try {
        return await query<T>(statement);
      } finally {
        running -= 1;
      }
    };
    const counts = new Map<number, number>();
    const countOf = (status: number): number => counts.get(status) ?? 0;
    const client = async (): Promise<void> => {
      while (countOf(200) < ENOUGH || countOf(503) === 0) {
        const { status, headers } = await server.get('/api/v2/organizations/acme');
        counts.set(status, countOf(status) + 1);
        expect(headers.get('retry-after')).toBe(status === 503 ? '1' : null);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    database.rows = query;
    expect([...counts.keys()].toSorted()).toEqual([200, 503]);
    // Each of these requests has one statement at a time.
    expect(mostRunning).toBeLessThanOrEqual(MAX);
    expect((await server.get('/api/v2/organizations/acme')).status).toBe(200);
  });
});
