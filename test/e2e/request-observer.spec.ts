import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { Controller, Get, Module, StreamableFile } from '@nestjs/common';
import { register } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ConfigureRoute, Public } from '#api/access';
import { NestLoggerAdapter } from '#platform/host';
import { waitUntil } from '../support/product.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { createHttpServer } from '#api/edge';
import type { CompletedRequest } from '../../libs/api/edge/server/request-observer.http.js';

let server: TestServer;
let url: string;
let close: () => Promise<void>;
let completed: CompletedRequest[] = [];

@Controller('things')
@Public()
class Things {
  @Get('fails')
  fail(): never {
    throw new Error('on purpose');
  }
  @Get('waits')
  wait(): Promise<never> {
    return new Promise(() => undefined);
  }
  @Get('endless')
  @ConfigureRoute({ isEndless: true })
  follow(): StreamableFile {
    const body = new Readable({ read: () => undefined });
    body.push('begun');
    return new StreamableFile(body);
  }
  @Get(':id')
  show(): string {
    return '{}';
  }
}

const log = jest.fn<(message: unknown, ...rest: unknown[]) => void>();

beforeAll(async () => {
  server = await startTestServer();
  @Module({ controllers: [Things] })
  class Root {}
  const { logger } = server.runtime;
  const nestLog = new NestLoggerAdapter(logger);
  nestLog.error = log;
  const app = await createHttpServer(Root, {
    tls: null,
    version: '1.2.3',
    logger: nestLog,
    requestLog: { completed: (request) => void completed.push(request) },
  });
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
  close = () => app.close();
});

beforeEach(() => {
  completed = [];
});

afterAll(async () => {
  await close();
  await server.close();
});

const nextCompleted = async (): Promise<CompletedRequest> => {
  await waitUntil(() => completed.length > 0, 'a request is observed');
  return completed[0] as CompletedRequest;
};

describe('an observed request', () => {
  it('is reported with the pattern of its route, never with its URL', async () => {
    const response = await fetch(`${url}/things/secret?signature=secret`);
    const request = await nextCompleted();
    expect(request).toEqual({
      requestId: response.headers.get('x-request-id'),
      method: 'GET',
      route: '/things/:id',
      status: 200,
      caller: null,
      durationMs: expect.any(Number),
      bytesSent: expect.any(Number),
    });
    expect(request.bytesSent).toBeGreaterThan(100);
    expect(JSON.stringify(request)).not.toContain('secret');
  });

  it.each([
    ['GET', 'GET'],
    ['PROPFIND', 'other'],
  ])('is reported under one route if its route is unknown: %s', async (method, label) => {
    await fetch(`${url}/nothing/${Math.random()}`, { method });
    expect(await nextCompleted()).toMatchObject({ method: label, route: 'unknown', status: 404 });
  });

  it('is reported as 499 and no longer counted as in flight if the client disconnects', async () => {
    const inFlight = async () =>
      (await register.getSingleMetric('cadastre_http_requests_in_flight')?.get())?.values[0]?.value;
    const before = await inFlight();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('GET /things/waits HTTP/1.1\r\nhost: test\r\n\r\n');
    await waitUntil(async () => (await inFlight()) === (before ?? 0) + 1, 'the request is in flight');
    socket.destroy();
    expect(await nextCompleted()).toMatchObject({ route: '/things/waits', status: 499 });
    expect(await inFlight()).toBe(before ?? 0);
  });

  it('is reported once, and no longer counted as in flight, when an endless response begins', async () => {
    const inFlight = async () =>
      (await register.getSingleMetric('cadastre_http_requests_in_flight')?.get())?.values[0]?.value;
    const before = await inFlight();
    const client = new AbortController();
    const response = await fetch(`${url}/things/endless`, { signal: client.signal });
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('begun');
    expect(completed).toMatchObject([{ route: '/things/endless', status: 200 }]);
    expect(await inFlight()).toBe(before);
    client.abort();
    await fetch(`${url}/things/1`);
    await waitUntil(() => completed.length > 1, 'the next request is observed');
    expect(completed.map(({ route }) => route)).toEqual(['/things/endless', '/things/:id']);
  });

  it('logs an unexpected error with the id that the caller received', async () => {
    const response = await fetch(`${url}/things/fails`);
    const id = response.headers.get('x-request-id');
    expect(await response.text()).toContain(`Request id: ${id}`);
    expect(log).toHaveBeenCalledWith(expect.objectContaining({ message: 'on purpose' }), { requestId: id }, 'Request');
  });

  it('is counted by method, route and status, beside the version and the runtime of the process', async () => {
    await fetch(`${url}/things/1`);
    await nextCompleted();
    const text = await register.metrics();
    expect(text).toMatch(
      /^cadastre_http_request_duration_seconds_count\{method="GET",route="\/things\/:id",status="200"\} \d+$/m,
    );
    for (const name of [
      'cadastre_build_info{version="1.2.3"}',
      'nodejs_eventloop_lag_p99_seconds',
      'process_resident_memory_bytes',
    ])
      expect(text).toContain(`\n${name} `);
  });
});

describe('a caller', () => {
  it('is reported by its id', async () => {
    const requests: CompletedRequest[] = [];
    const { id } = (await server.get('/api/v2/account/details')).body.data as { readonly id: string };
    const { GatewayModule } = await import('../../apps/gateway/src/gateway.module.js');
    const { logger } = server.runtime;
    const app = await createHttpServer(GatewayModule.over(server.runtime), {
      tls: null,
      logger: new NestLoggerAdapter(logger),
      requestLog: { completed: (request) => void requests.push(request) },
    });
    await app.listen(0, '127.0.0.1');
    try {
      const headers = { authorization: `Bearer ${server.adminToken}` };
      await fetch(`${await app.getUrl()}/api/v2/account/details`, { headers });
      await waitUntil(() => requests.length > 0, 'the request is observed');
      expect(requests[0]).toMatchObject({ caller: id, route: '/api/v2/account/details', status: 200 });
    } finally {
      await app.close();
    }
  });
});
