import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { Public } from '#api/access';
import { createHttpServer } from '#api/edge';
import { createLogger, NestLoggerAdapter } from '#platform/host';
import { sql, type RecordedEvent } from '#platform/kernel';
import { startRequestTrace, type RunningTracing } from '#platform/tracing';
import { costOf } from '../support/cost.js';
import { waitForFollowers } from '../support/event-log.js';
import { startOtlpReceiver, startTestTracing, type OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.js';
import type { CompletedRequest } from '../../libs/api/edge/server/request-observer.http.js';
import { waitUntil } from '../support/product.js';
import { makeConfigurationVersion, makeOrganization, makeRun, makeWorkspace, resource } from '../support/seeds.js';
import { startTestServer, type TestServer } from '../support/server.js';

const SPAN = '00f067aa0ba902b7';
const UNUSED_TRACES = Array.from({ length: 30 }, (_, n) => (n + 1).toString(16).padStart(32, 'a'));

/** Returns a trace id that no other request of this file has. */
const nextTraceId = (): string => UNUSED_TRACES.pop() as string;

let receiver: OtlpReceiver;
let tracing: RunningTracing;
let server: TestServer;
let workspace: string;

const startRecording = (): Promise<RunningTracing> =>
  startTestTracing(receiver, { headers: { 'x-key': 'of-the-collector' } });

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  tracing = await startRecording();
  server = await startTestServer({ followers: true });
  await makeOrganization(server, 'acme');
  workspace = await makeWorkspace(server, 'acme', 'first');
});
afterAll(async () => {
  await server?.close();
  await tracing?.stop();
  await receiver?.close();
});

/** Sends a request as part of a trace of the client. */
const sendInTrace = (
  traceparent: string,
  path: string,
  { method = 'GET', body, token = server.adminToken }: { method?: string; body?: object; token?: string } = {},
): Promise<Response> =>
  fetch(`${server.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, traceparent, 'content-type': 'application/vnd.api+json' },
    ...(body && { body: JSON.stringify(body) }),
  });

const listSpans = (traceId: string): readonly ReceivedSpan[] =>
  receiver.spans.filter((span) => span.traceId === traceId);

const findInTrace = (traceId: string, name: string): Promise<ReceivedSpan> =>
  receiver.find(name, (span) => span.traceId === traceId && span.name === name);

const findRequest = (traceId: string): Promise<ReceivedSpan> =>
  receiver.find('the request', (span) => span.traceId === traceId && span.kind === 'server');

describe('the trace of a request', () => {
  it('continues the trace of the client, with authentication, statements, append and followers', async () => {
    const traceId = nextTraceId();
    const response = await sendInTrace(
      `00-${traceId}-${SPAN}-01`,
      `/api/v2/workspaces/${workspace}/actions/lock?reason=why`,
      { method: 'POST', body: { reason: 'a maintenance by Ada' } },
    );
    expect(response.status).toBe(200);
    const request = await findRequest(traceId);
    expect(response.headers.get('traceresponse')).toBe(`00-${traceId}-${request.spanId}-01`);
    expect(request).toMatchObject({
      parentId: SPAN,
      name: 'POST /api/v2/workspaces/:id/actions/lock',
      kind: 'server',
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/api/v2/workspaces/:id/actions/lock',
        'http.response.status_code': 200,
        'url.scheme': 'http',
        'cadastre.request.id': response.headers.get('x-request-id'),
      },
      resource: { 'service.name': 'cadastre', 'service.version': '1.2.3', 'cadastre.process': 'test' },
    });
    const append = await findInTrace(traceId, 'append');
    expect(append).toMatchObject({
      parentId: request.spanId,
      attributes: {
        'cadastre.stream.types': ['ws'],
        'cadastre.event.types': ['WorkspaceLocked'],
        'cadastre.events': 1,
      },
    });
    expect(await findInTrace(traceId, 'authenticate')).toMatchObject({ parentId: request.spanId });
    expect(await findInTrace(traceId, 'transaction')).toMatchObject({
      parentId: append.spanId,
      kind: 'client',
      attributes: { 'db.system.name': 'postgresql', 'db.operation.batch.size': expect.any(Number) },
    });
    for (const follower of ['audit_trail', 'workspace_history']) {
      expect(await findInTrace(traceId, `follow ${follower}`)).toMatchObject({
        parentId: append.spanId,
        kind: 'consumer',
        attributes: { 'cadastre.follower': follower, 'cadastre.events': 1 },
      });
    }
    const statements = listSpans(traceId).filter(({ attributes }) => 'db.query.text' in attributes);
    expect(statements.length).toBeGreaterThan(0);
    for (const { attributes } of statements) expect(attributes['db.query.text']).not.toContain(workspace);
  });

  it('has a span of the request that ends when an endless response begins', async () => {
    const traceId = nextTraceId();
    const response = await sendInTrace(`00-${traceId}-${SPAN}-01`, '/api/v2/organizations/acme/events', {
      method: 'GET',
    });
    expect(await findRequest(traceId)).toMatchObject({
      name: 'GET /api/v2/organizations/:organization/events',
      attributes: { 'http.response.status_code': 200 },
    });
    await response.body?.cancel();
  });

  it('continues with the events that a follower appends', async () => {
    const busy = await makeWorkspace(server, 'acme', 'runs');
    await makeConfigurationVersion(server, busy);
    await server.post(`/api/v2/workspaces/${busy}/actions/lock`);
    const run = await makeRun(server, busy);
    // Otherwise the new run could be the cause of the start.
    await waitForFollowers(server.store, 'run_queue');
    const traceId = nextTraceId();
    await sendInTrace(`00-${traceId}-${SPAN}-01`, `/api/v2/workspaces/${busy}/actions/unlock`, { method: 'POST' });
    const start = await findInTrace(traceId, 'start next run');
    const follower = await findInTrace(traceId, 'follow run_queue');
    expect(start.parentId).toBe(follower.spanId);
    const append = await receiver.find(
      'the append',
      ({ name, parentId }) => name === 'append' && parentId === start.spanId,
    );
    const events = await server.store.log.stream(run);
    expect(events.at(-1)?.traceparent).toBe(`00-${traceId}-${append.spanId}-01`);
  });

  it('keeps the span of the append with the event, and not without a recorded trace', async () => {
    const recorded = nextTraceId();
    await sendInTrace(`00-${recorded}-${SPAN}-01`, `/api/v2/workspaces/${workspace}`, {
      method: 'PATCH',
      body: resource('workspaces', { description: 'recorded' }),
    });
    const ignored = nextTraceId();
    await sendInTrace(`00-${ignored}-${SPAN}-00`, `/api/v2/workspaces/${workspace}`, {
      method: 'PATCH',
      body: resource('workspaces', { description: 'not recorded' }),
    });
    const { spanId } = await findInTrace(recorded, 'append');
    const rows = await server.database.rows<{ traceparent: string | null }>(
      sql`select traceparent from event_store.events where stream = ${workspace} order by version desc limit 2`,
    );
    expect(rows).toEqual([{ traceparent: null }, { traceparent: `00-${recorded}-${spanId}-01` }]);
    const events = await server.store.log.stream(workspace);
    expect(events.slice(-2).map(({ traceparent }) => traceparent)).toEqual([`00-${recorded}-${spanId}-01`, null]);
  });

  it('of a client that does not record it has only ids', async () => {
    const traceId = nextTraceId();
    const response = await sendInTrace(`00-${traceId}-${SPAN}-00`, `/api/v2/workspaces/${workspace}`);
    expect(response.headers.get('traceresponse')).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    const later = nextTraceId();
    await sendInTrace(`00-${later}-${SPAN}-01`, '/api/v2/account/details');
    await findRequest(later);
    expect(listSpans(traceId)).toEqual([]);
  });

  it('begins in the server if the header is missing or invalid', async () => {
    const response = await sendInTrace('00-invalid', '/api/v2/account/details');
    const [, traceId = ''] = response.headers.get('traceresponse')?.split('-') ?? [];
    expect(await findRequest(traceId)).toMatchObject({ parentId: '' });
  });

  it('has the status of a refusal, and no message', async () => {
    const traceId = nextTraceId();
    const response = await sendInTrace(`00-${traceId}-${SPAN}-01`, '/api/v2/account/details', { token: 'wrong-token' });
    expect(response.status).toBe(401);
    expect((await findRequest(traceId)).attributes).toMatchObject({ 'http.response.status_code': 401 });
    const authentication = await findInTrace(traceId, 'authenticate');
    expect(authentication).toMatchObject({ isError: true, attributes: { 'error.type': 'unauthorized' } });
  });

  it('has the method but no path if there is no such route', async () => {
    const traceId = nextTraceId();
    await sendInTrace(`00-${traceId}-${SPAN}-01`, '/api/v2/no-such-route/ada');
    expect(await findRequest(traceId)).toMatchObject({ name: 'GET' });
    expect((await findRequest(traceId)).attributes).not.toHaveProperty(['http.route']);
  });

  it('is not recorded for health checks', async () => {
    const response = await fetch(`${server.url}/healthz`);
    expect(response.headers.get('traceresponse')).toBeNull();
  });
});

describe('log lines', () => {
  @Controller('things')
  @Public()
  class FailingThings {
    @Get()
    fail(): never {
      throw new Error('on purpose');
    }
  }

  @Module({ controllers: [FailingThings] })
  class FailingRoot {}

  it.each(['01', '00'])('of a failed request name its trace, with the flags %s of the client', async (flags) => {
    const lines: string[] = [];
    const completed: CompletedRequest[] = [];
    const logger = new NestLoggerAdapter(createLogger('error', { write: (line) => void lines.push(line) }));
    const requestLog = { completed: (request: CompletedRequest) => void completed.push(request) };
    const app = await createHttpServer(FailingRoot, { tls: null, logger, requestLog });
    await app.listen(0, '127.0.0.1');
    try {
      const traceId = nextTraceId();
      const response = await fetch(`${await app.getUrl()}/things`, {
        headers: { traceparent: `00-${traceId}-${SPAN}-${flags}` },
      });
      expect(response.status).toBe(500);
      expect(lines.map((line) => JSON.parse(line) as object)).toEqual([expect.objectContaining({ traceId })]);
      await waitUntil(() => completed.length > 0, 'the request is logged');
      expect(completed[0]).toMatchObject({ traceId, status: 500 });
      if (flags === '00') return;
      expect(await findRequest(traceId)).toMatchObject({ isError: true, attributes: { 'error.type': '500' } });
      expect(Buffer.concat(receiver.bodies).includes('on purpose')).toBe(false);
    } finally {
      await app.close();
    }
  });
});

describe('work that several requests share', () => {
  /** Runs work in the trace of a request for each id, all in one turn of the event loop. */
  const runTogether = async (traceIds: readonly string[], work: (n: number) => Promise<unknown>): Promise<void> => {
    const requests = traceIds.map((traceId) =>
      startRequestTrace(`00-${traceId}-${SPAN}-01`, () => ({ name: 'GET', attributes: {} })),
    );
    const results: Promise<unknown>[] = [];
    for (const [n, request] of requests.entries()) request?.span?.run(() => void results.push(work(n)));
    await Promise.all(results);
    for (const request of requests) request?.span?.end({}, false);
    expect(results).toHaveLength(traceIds.length);
  };

  const expectShared = async (traceIds: readonly string[], name: string): Promise<void> => {
    const spans = await Promise.all(traceIds.map((traceId) => findInTrace(traceId, name)));
    expect(spans.map(({ attributes }) => attributes['cadastre.requests'])).toEqual(traceIds.map(() => traceIds.length));
    const [first] = spans as [ReceivedSpan];
    expect(spans.map(({ links }) => links)).toEqual(traceIds.map((_, n) => (n === 0 ? [] : [first.spanId])));
  };

  it('is in the trace of each request that reads with the same statement', async () => {
    const traceIds = Array.from({ length: 3 }, nextTraceId);
    const select = (keys: readonly string[]) =>
      sql`select stream from event_store.streams where stream = any (${keys})`;
    await runTogether(traceIds, (n) => server.database.keyedRow({ key: `shared-${n}`, column: 'stream', select }));
    await expectShared(traceIds, 'SELECT event_store.streams');
  });

  it('is in the trace of each request whose append is in the same transaction', async () => {
    const traceIds = Array.from({ length: 3 }, nextTraceId);
    const workspaces = await Promise.all(traceIds.map((_, n) => makeWorkspace(server, 'acme', `shared-${n}`)));
    const [event] = (await server.store.log.stream(workspaces[0] as string)) as [RecordedEvent];
    const { organization, context } = event;
    const { id, name } = context.accessor;
    const holder = { type: 'users', id, name };
    await runTogether(traceIds, (n) => {
      const events = [{ type: 'WorkspaceUnlocked', data: { holder, forced: false } }];
      const write = { stream: workspaces[n] as string, organization, expected: 'any' as const, events };
      return server.store.append([write], context);
    });
    await expectShared(traceIds, 'transaction');
  });
});

describe('a server that records traces', () => {
  it('sends as many statements as one that does not', async () => {
    const lock = () => server.post(`/api/v2/workspaces/${workspace}/actions/force-unlock`);
    const unlock = () => server.post(`/api/v2/workspaces/${workspace}/actions/lock`);
    const recorded = [await costOf(server, lock), await costOf(server, unlock)];
    await tracing.stop();
    try {
      expect([await costOf(server, lock), await costOf(server, unlock)]).toEqual(recorded);
    } finally {
      tracing = await startRecording();
    }
  });

  it('sends the headers of the settings to the collector', () => {
    expect(new Set(receiver.headers.map((headers) => headers['x-key']))).toEqual(new Set(['of-the-collector']));
  });

  it('never sends names, addresses, values of requests or tokens to the collector', async () => {
    const traceId = nextTraceId();
    await sendInTrace(`00-${traceId}-${SPAN}-01`, '/api/v2/organizations/acme/workspaces?search%5Bname%5D=first');
    await findRequest(traceId);
    const sent = Buffer.concat(receiver.bodies).toString('latin1');
    for (const secret of [
      server.adminToken,
      'maintenance',
      'Ada',
      'wrong-token',
      'acme',
      'why',
      workspace,
      '127.0.0.1',
    ])
      expect({ secret, isSent: sent.includes(secret) }).toEqual({ secret, isSent: false });
  });
});
