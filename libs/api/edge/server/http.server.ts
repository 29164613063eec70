import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { NestFactory } from '@nestjs/core';
import type { Abstract, DynamicModule, LoggerService, Type } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OutdatedAccessFilter, Authenticator, SignInRequiredFilter, TokenRateLimit } from '#api/access';
import { DocumentMemory } from '#api/document-cache';
import { badRequest, notFound, type Clock } from '#platform/kernel';
import { Database } from '#platform/postgres';
import { JSON_API, RefusalFilter, sendRefusal, type ErrorFormat } from '#api/json-api';
import { escapeAddress } from './addresses.http.js';
import { identifyBeforeBody } from './callers.hooks.js';
import { compressAnswers } from './compressed-answers.hooks.js';
import {
  guardConnections,
  refuseBrokenRequest,
  buildServerOptions,
  type ConnectionLimits,
} from './connections.http.js';
import { collectProcessMetrics, requestMetrics } from './http.metrics.js';
import type { DelaySource } from './overload.http.js';
import { observeRequests, type RequestObserver } from './request-observer.http.js';
import { setSecurityHeaders } from './security-headers.http.js';
import { traceRequests } from './request-traces.http.js';
import { limitRequests, type RateLimits } from './rate-limits.http.js';
import { readBodies, type BodyLimits } from '../bodies/request-bodies.hooks.js';
import { answerUnknownRoutes } from './unknown-routes.hooks.js';
import { answerFromMemory } from './kept-documents.hooks.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The whole URL of the request, at the address that clients use (CADASTRE_PUBLIC_URL). */
    readonly publicUrl: string;
  }
}

export type HttpServerOptions = {
  readonly tls: { readonly key: string; readonly cert: string } | null;
  /** The origin that clients use. Default: none, for a process without lists. */
  readonly publicOrigin?: string;
  /**
   * Whether the host of the site is `localhost`. Browsers would require HTTPS for all its ports, and `terraform login`
   * listens without it. Default: false.
   */
  readonly isLocalhost?: boolean;
  /** Addresses and networks (RFC 4632) whose `X-Forwarded-For` is trusted. Default: none. */
  readonly trustedProxies?: readonly string[];
  /** Default: null, no limits. */
  readonly rateLimits?: { readonly limits: RateLimits; readonly clock: Clock } | null;
  /** Default: null, requests are not logged. */
  readonly requestLog?: RequestObserver | null;
  /** Version of Cadastre, for its metrics. */
  readonly version?: string;
  readonly logger: LoggerService;
  readonly limits?: Partial<HttpLimits>;
  /** Formats of errors besides JSON:API. Default: none. */
  readonly errorFormats?: readonly ErrorFormat[];
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
  unanswered: null,
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns the caller's own request id if it is a UUID, as the audit trail requires, else a new one. New
 * ids are random and not ordered by time like event ids, because Node creates random ids at a fraction of the cost.
 */
const chooseRequestId = ({ headers: { 'x-request-id': ownId } }: IncomingMessage): string =>
  typeof ownId === 'string' && UUID.test(ownId) ? ownId.toLowerCase() : randomUUID();

/** Sets the headers of all responses, and refuses an address with a NUL, which Postgres cannot store. */
const addCommonHeaders = (fastify: FastifyInstance): void => {
  fastify.addHook('onRequest', (request, reply, next) => {
    void reply.header('x-request-id', request.id).header('content-type', JSON_API);
    next(request.url.includes('%00') ? badRequest('The address contains a NUL character') : undefined);
  });
};

const addPublicUrls = (fastify: FastifyInstance, origin: string): void => {
  fastify.decorateRequest('publicUrl', {
    getter(this: FastifyRequest) {
      return `${origin}${escapeAddress(this.url)}`;
    },
  });
};

/**
 * Closes connections that are busy when the server stops after their last response. As idle connections they would
 * delay the stop for 72 s.
 */
const closeWhenAnswered = (fastify: FastifyInstance): void => {
  let stopping = false;
  fastify.addHook('preClose', (done) => {
    stopping = true;
    done();
  });
  fastify.addHook('onResponse', (_request, _reply, done) => {
    // Node marks the connection as idle only after this hook.
    if (stopping) setImmediate(() => fastify.server.closeIdleConnections());
    done();
  });
};

/** No route has a schema: zod checks bodies. Without this option Fastify loads compilers that take 6 MB of memory. */
const refuseSchemas = (): never => {
  throw new Error('a route has a schema, but the server was created without a compiler for schemas');
};

const createAdapter = (
  tls: HttpServerOptions['tls'],
  trustedProxies: readonly string[],
  limits: HttpLimits,
  errorFormats: readonly ErrorFormat[],
): FastifyAdapter =>
  new FastifyAdapter({
    ...(tls ? { https: { ...tls, ...buildServerOptions(limits) } } : { http: buildServerOptions(limits) }),
    ...(trustedProxies.length > 0 ? { trustProxy: [...trustedProxies] } : {}),
    connectionTimeout: limits.idleMs,
    clientErrorHandler: refuseBrokenRequest,
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
    requestIdHeader: false,
    genReqId: chooseRequestId,
    // Idle keep-alive connections do not delay a stop. Accepted requests get their response.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // terrasnek requests variables with a slash at the end of the path.
    routerOptions: { maxParamLength: 500, ignoreTrailingSlash: true },
    // Requests that the router itself refuses never reach Nest and its filter.
    frameworkErrors: (error: { readonly code: string }, _request: unknown, reply: FastifyReply) =>
      sendRefusal(
        reply,
        error.code === 'FST_ERR_BAD_URL' ? badRequest('The address is not well-formed') : notFound(),
        errorFormats,
      ),
  });

/**
 * Returns a function that calls `find` only once. Modules are created after the hooks that use them, and a process without
 * routes that require a caller has no authenticator.
 */
const findOnce = <T>(find: () => T): (() => T) => {
  let result: T | undefined;
  return () => (result ??= find());
};

/** Commands read before they write, so the delay of writes includes that of reads. */
const createDelaySource =
  (database: () => Database): DelaySource =>
  (kind) => {
    const { readDelays, writeDelays } = database();
    const reads = readDelays.computeMedian();
    return kind === 'read' ? reads : Math.max(reads, writeDelays.computeMedian());
  };

/** Returns null for a process that keeps no documents. */
const findDocumentMemory = (app: NestFastifyApplication): DocumentMemory | null => {
  try {
    return app.get<DocumentMemory, DocumentMemory>(DocumentMemory, { strict: false });
  } catch {
    return null;
  }
};

/** Adds the filters of errors. Nest tries the last one first. */
const addFilters = (
  app: NestFastifyApplication,
  authenticator: () => Authenticator,
  errorFormats: readonly ErrorFormat[],
): void => {
  const refused = new RefusalFilter(errorFormats);
  const catchAll = new OutdatedAccessFilter(authenticator, refused.catch.bind(refused));
  app.useGlobalFilters(catchAll, new SignInRequiredFilter());
};

/** Traces, measures and logs all requests, also those that later hooks refuse. */
const addObservers = (
  fastify: FastifyInstance,
  { tls, requestLog, version }: Required<Pick<HttpServerOptions, 'tls' | 'requestLog' | 'version'>>,
): void => {
  collectProcessMetrics(version);
  traceRequests(fastify, { scheme: tls ? 'https' : 'http' });
  observeRequests(fastify, [requestMetrics, ...(requestLog ? [requestLog] : [])]);
};

/** Creates an HTTP server for these modules. It does not listen yet. */
export const createHttpServer = async (
  root: Type | DynamicModule,
  {
    tls,
    publicOrigin = '',
    isLocalhost = false,
    trustedProxies = [],
    rateLimits = null,
    requestLog = null,
    version = 'unknown',
    logger,
    limits: chosen,
    errorFormats = [],
  }: HttpServerOptions,
): Promise<NestFastifyApplication> => {
  const limits = { ...DEFAULT_LIMITS, ...chosen };
  const adapter = createAdapter(tls, trustedProxies, limits, errorFormats);
  const fastify = adapter.getInstance<FastifyInstance>();
  const find = <T>(type: Abstract<T>) => findOnce(() => app.get<T, T>(type, { strict: false }));
  const authenticator = find(Authenticator);
  const delayOf = createDelaySource(find(Database));
  addPublicUrls(fastify, publicOrigin);
  addObservers(fastify, { tls, requestLog, version });
  setSecurityHeaders(fastify, { requiresTls: tls !== null && !isLocalhost });
  addCommonHeaders(fastify);
  guardConnections(fastify, trustedProxies, limits, { delayOf, chooseRequestId });
  if (rateLimits) await limitRequests(fastify, { ...rateLimits, authenticator, tokenRateLimit: find(TokenRateLimit) });
  answerUnknownRoutes(fastify);
  readBodies(fastify, limits);
  closeWhenAnswered(fastify);
  identifyBeforeBody(fastify, authenticator);
  answerFromMemory(fastify, authenticator, () => findDocumentMemory(app));
  // Last, so that the hooks before it see the text.
  compressAnswers(fastify);
  // The body parsers are registered above.
  const options = { logger, abortOnError: false, bodyParser: false };
  const app: NestFastifyApplication = await NestFactory.create<NestFastifyApplication>(root, adapter, options);
  addFilters(app, authenticator, errorFormats);
  return app;
};
