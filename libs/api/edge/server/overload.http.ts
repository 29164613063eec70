import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge } from 'prom-client';
import { getCredential, type RouteOptions } from '#api/access';
import { getHttpStatus, hasLongUnreadBody, JSON_API, renderRefusal } from '#api/json-api';
import { unavailable, type Refusal } from '#platform/kernel';
import { canHaveBody, getContentLength } from '../bodies/request-bodies.hooks.js';
import type { RequestListener } from './pipelining.http.js';
import { RequestAdmission, type UnansweredLimits, type WaitingRequest } from './request-admission.js';

/** Served at /metrics (docs/reference/metrics.md lists the metrics). */
const refusedRequests = new Counter({
  name: 'cadastre_overload_refused_requests_total',
  help: 'Requests that were refused with 503 because the server had too many others',
  labelNames: ['kind'],
});

const limitGauge = new Gauge({
  name: 'cadastre_working_requests_limit',
  help: 'Requests that the server works on at most, at present; falls under overload',
  labelNames: ['kind'],
});

type RequestKind = 'read' | 'write';

/** Returns the present delay of one statement of such requests, in milliseconds. */
export type DelaySource = (kind: RequestKind) => number;

const RETRY_AFTER_SECONDS = 1;

const createOverloadRefusal = (): Refusal =>
  unavailable(
    'The server has more requests than it can answer in time (CADASTRE_MAX_UNANSWERED_REQUESTS). Please try again.',
    RETRY_AFTER_SECONDS,
  );

/** The response, rendered once, because a server that refuses has no time to spend. */
const OVERLOAD = createOverloadRefusal();
const BODY = Buffer.from(JSON.stringify(renderRefusal(OVERLOAD)));
const STATUS = getHttpStatus(OVERLOAD);
const HEADERS = {
  'content-type': JSON_API,
  'content-length': String(BODY.length),
  'retry-after': String(RETRY_AFTER_SECONDS),
  'cache-control': 'no-store',
};

const getKind = ({ method }: IncomingMessage): RequestKind =>
  method === 'GET' || method === 'HEAD' ? 'read' : 'write';

/**
 * The token if there is one. The server has not checked it yet: a request with a wrong one is soon answered. The rest of
 * the header does not count: clients can write `Bearer` in many ways.
 */
const getCallerKey = (request: IncomingMessage): string => getCredential(request) ?? request.socket.remoteAddress ?? '';

const getPath = ({ url = '' }: IncomingMessage): string => {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
};

type Work = { readonly run: () => void; readonly refuse: () => void };

/** A request that counts from its start until its response is ready, except while its body arrives. */
class AdmittedRequest implements WaitingRequest {
  readonly caller: string;
  private state: 'waiting' | 'counted' | 'receiving' | 'over' = 'waiting';

  constructor(
    private readonly request: IncomingMessage,
    private readonly admission: RequestAdmission,
    private readonly work: Work,
  ) {
    this.caller = getCallerKey(request);
  }

  start(): void {
    this.state = 'counted';
    const { method = '', headers } = this.request;
    // The server does not wait for the bodies of other methods, so such a request takes its place at once.
    if (canHaveBody(method) && getContentLength(headers) > 0) setImmediate(() => this.waitForBody());
    this.work.run();
  }

  refuse(): void {
    this.state = 'over';
    this.work.refuse();
  }

  /** Stops counting the request, because its response is ready or will never be. */
  end(): void {
    const before = this.state;
    this.state = 'over';
    if (before === 'counted') this.admission.end(this.caller);
    else if (before === 'waiting') this.admission.leave(this);
  }

  /** The client decides how long its body takes, so a body that is still arriving takes no place. */
  private waitForBody(): void {
    if (this.state !== 'counted' || this.request.complete) return;
    this.state = 'receiving';
    this.request.once('end', () => {
      if (this.state !== 'receiving') return;
      this.state = 'counted';
      this.admission.resume(this.caller);
    });
    this.admission.end(this.caller);
  }
}

/**
 * Not a WeakMap: its values would refer to its keys. V8 frees such entries only when it collects the whole heap, so each
 * request would stay in memory until then (ADR 125).
 */
const ADMITTED = Symbol('admission of the request');

type CountedMessage = IncomingMessage & { [ADMITTED]?: AdmittedRequest };

/** Returns the paths of the routes that are never refused. Routes may be added later. */
const collectEssentialPaths = (fastify: FastifyInstance): ReadonlySet<string> => {
  const paths = new Set<string>();
  fastify.addHook('onRoute', ({ url, config = {} }) => {
    if ((config as RouteOptions).isEssential) paths.add(url);
  });
  return paths;
};

const trackStop = (fastify: FastifyInstance): (() => boolean) => {
  let isStopping = false;
  fastify.addHook('preClose', (done) => {
    isStopping = true;
    done();
  });
  return () => isStopping;
};

type Refuse = (request: IncomingMessage, response: ServerResponse) => void;

const createRefuse =
  (isStopping: () => boolean, chooseRequestId: (request: IncomingMessage) => string): Refuse =>
  (request, response) => {
    refusedRequests.inc({ kind: getKind(request) });
    // An idle connection would delay the stop.
    const closes = isStopping() || hasLongUnreadBody(request);
    const id = { 'x-request-id': chooseRequestId(request), ...(closes && { connection: 'close' }) };
    response.writeHead(STATUS, { ...HEADERS, ...id }).end(BODY);
  };

/** How often requests that have waited too long are looked for. */
const EXPIRY_CHECK_MS = 25;

/** Creates the admission of one kind of requests. Its timer runs only while requests wait. */
const createAdmission = (kind: RequestKind, limits: UnansweredLimits, delayOf: DelaySource) => {
  let timer: NodeJS.Timeout | null = null;
  const admission = new RequestAdmission(
    limits,
    () => delayOf(kind),
    (limit) => limitGauge.set({ kind }, limit),
  );
  const expire = (): void => {
    admission.expire(performance.now());
    if (admission.waiting > 0 || !timer) return;
    clearInterval(timer);
    timer = null;
  };
  const arrive = (request: WaitingRequest): void => {
    admission.arrive(request, performance.now());
    if (admission.waiting > 0) timer ??= setInterval(expire, EXPIRY_CHECK_MS);
  };
  return { admission, arrive };
};

export type OverloadOptions = {
  readonly limits: UnansweredLimits;
  readonly delayOf: DelaySource;
  readonly chooseRequestId: (request: IncomingMessage) => string;
};

/**
 * Limits the requests that the server works on at the same time. Further ones wait for a short time, and then get 503
 * with `Retry-After`. Reads and writes have separate limits, because they use different connections to Postgres. The
 * server refuses a request before it does anything else with it, so a refusal costs hardly anything.
 *
 * Call it before listeners for `request` are registered that refused requests need.
 */
export const refuseOverload = (
  fastify: FastifyInstance,
  { limits, delayOf, chooseRequestId }: OverloadOptions,
): void => {
  const server = fastify.server as Server;
  const admissions = {
    read: createAdmission('read', limits, delayOf),
    write: createAdmission('write', limits, delayOf),
  };
  const essential = collectEssentialPaths(fastify);
  const refuse = createRefuse(trackStop(fastify), chooseRequestId);
  fastify.addHook('onSend', (request, _reply, _payload, done) => {
    (request.raw as CountedMessage)[ADMITTED]?.end();
    done();
  });
  const handlers = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (request: CountedMessage, response: ServerResponse) => {
    const run = (): void => {
      for (const handler of handlers) handler.call(server, request, response);
    };
    if (essential.has(getPath(request))) return run();
    const { admission, arrive } = admissions[getKind(request)];
    const one = new AdmittedRequest(request, admission, { run, refuse: () => refuse(request, response) });
    request[ADMITTED] = one;
    response.once('close', () => one.end());
    arrive(one);
  });
};
