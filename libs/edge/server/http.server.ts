import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { NestFactory } from '@nestjs/core';
import type { DynamicModule, LoggerService, Type } from '@nestjs/common';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { OutdatedAccessFilter, Authenticator } from '#access';
import { badRequest, notFound, type Clock } from '#kernel';
import { JSON_API, RefusalFilter, sendRefusal } from '#json-api';
import { identifyBeforeBody } from './callers.hooks.js';
import {
  guardConnections,
  refuseBrokenRequest,
  buildServerOptions,
  type ConnectionLimits,
} from './connections.http.js';
import { collectProcessMetrics, requestMetrics } from './http.metrics.js';
import { observeRequests, type RequestObserver } from './request-observer.http.js';
import { setSecurityHeaders } from './security-headers.http.js';
import { limitRequests, type RateLimits } from './rate-limits.http.js';
import { readBodies, type BodyLimits } from '../bodies/request-bodies.hooks.js';
import { answerUnknownRoutes } from './unknown-routes.hooks.js';

export type HttpServerOptions = {
  readonly tls: { readonly key: string; readonly cert: string } | null;
  /** Whose `X-Forwarded-For` is believed: addresses, and blocks of them (RFC 4632). None where it is left out. */
  readonly trustedProxies?: readonly string[];
  /** Null, or left out: any number of requests. */
  readonly rateLimits?: { readonly limits: RateLimits; readonly clock: Clock } | null;
  /** Null, or left out: requests are not logged. */
  readonly requestLog?: RequestObserver | null;
  /** The product's version, for its metrics. */
  readonly version?: string;
  readonly logger: LoggerService;
  readonly limits?: Partial<HttpLimits>;
};

export type HttpLimits = BodyLimits & ConnectionLimits;

const MIB = 1024 * 1024;

const DEFAULT_LIMITS: HttpLimits = {
  bodyBytes: MIB / 4,
  bodyMs: 30_000,
  bodyMemory: { total: 64 * MIB, perCaller: 32 * MIB },
  uploadBytesPerSecond: 1_024,
  uploadWindowMs: 30_000,
  connections: 1_000,
  connectionsPerAddress: 500,
  headersMs: 10_000,
  idleMs: 300_000,
  drainBytes: 64 * MIB,
  drainMs: 10_000,
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * The request's id: the caller's own where it is a UUID, as the audit trail wants it (contract §2.5), else a new one. Not one
 * in the order of time, as events have: Node makes random ones from a store, at a fraction of the cost.
 */
const chooseRequestId = (given: string | string[] | undefined): string =>
  typeof given === 'string' && UUID.test(given) ? given.toLowerCase() : randomUUID();

/** Sets the headers that every answer has, and refuses an address with a NUL: Postgres stores none in a text. */
const addCommonHeaders = (fastify: FastifyInstance): void => {
  fastify.addHook('onRequest', (request, reply, next) => {
    void reply.header('x-request-id', request.id).header('content-type', JSON_API);
    next(request.url.includes('%00') ? badRequest('The address holds a NUL character') : undefined);
  });
};

/** Connections that are busy when a stop begins go with their last answer: as idle ones they would hold it up for 72 s. */
const closeWhenAnswered = (fastify: FastifyInstance): void => {
  let stopping = false;
  fastify.addHook('preClose', (done) => {
    stopping = true;
    done();
  });
  fastify.addHook('onResponse', (_request, _reply, done) => {
    // Node calls a connection idle only after it has told us of the end of the answer.
    if (stopping) setImmediate(() => fastify.server.closeIdleConnections());
    done();
  });
};

/** An HTTP server over these modules, not yet listening. */
export const createHttpServer = async (
  root: Type | DynamicModule,
  {
    tls,
    trustedProxies = [],
    rateLimits = null,
    requestLog = null,
    version = 'unknown',
    logger,
    limits: chosen,
  }: HttpServerOptions,
): Promise<NestFastifyApplication> => {
  const limits = { ...DEFAULT_LIMITS, ...chosen };
  const adapter = new FastifyAdapter({
    ...(tls ? { https: { ...tls, ...buildServerOptions(limits) } } : { http: buildServerOptions(limits) }),
    ...(trustedProxies.length > 0 ? { trustProxy: [...trustedProxies] } : {}),
    connectionTimeout: limits.idleMs,
    clientErrorHandler: refuseBrokenRequest,
    requestIdHeader: false,
    genReqId: (request: IncomingMessage) => chooseRequestId(request.headers['x-request-id']),
    // A keep-alive connection without a request does not hold up a stop; what has got in is answered.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // With a slash at the end it is the same address: so terrasnek asks for variables.
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
    // Addresses that the router gives up on never reach Nest, nor its filter.
    frameworkErrors: (error: { readonly code: string }, _request: unknown, reply: FastifyReply) =>
      sendRefusal(reply, error.code === 'FST_ERR_BAD_URL' ? badRequest('The address is not well-formed') : notFound()),
  });
  const fastify = adapter.getInstance<FastifyInstance>();
  // A process without routes that need a caller has neither of them.
  let found: Authenticator | undefined;
  const authenticator = (): Authenticator =>
    (found ??= app.get<Authenticator, Authenticator>(Authenticator, { strict: false }));
  collectProcessMetrics(version);
  observeRequests(fastify, [requestMetrics, ...(requestLog ? [requestLog] : [])]);
  await setSecurityHeaders(fastify, { tls: tls !== null });
  addCommonHeaders(fastify);
  guardConnections(fastify, trustedProxies, limits);
  if (rateLimits) await limitRequests(fastify, { ...rateLimits, authenticator });
  answerUnknownRoutes(fastify);
  readBodies(fastify, limits);
  closeWhenAnswered(fastify);
  identifyBeforeBody(fastify, authenticator);
  const app: NestFastifyApplication = await NestFactory.create<NestFastifyApplication>(root, adapter, {
    logger,
    abortOnError: false,
    // Ours are registered above.
    bodyParser: false,
  });
  const refused = new RefusalFilter();
  app.useGlobalFilters(new OutdatedAccessFilter(authenticator, refused.catch.bind(refused)));
  return app;
};
