import type { IncomingMessage } from 'node:http';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { NestFactory } from '@nestjs/core';
import type { DynamicModule, LoggerService, Type } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AccessFilter, Authenticator, identifyCaller } from '#access';
import { badRequest, notFound, type Ids } from '#kernel';
import { acceptJsonApi, JSON_API, RefusedFilter, sendRefusal } from '#json-api';

export type HttpOptions = {
  readonly tls: { readonly key: string; readonly cert: string } | null;
  /** Whose `X-Forwarded-For` is believed: addresses, and blocks of them (RFC 4632). None where it is left out. */
  readonly trustedProxies?: readonly string[];
  readonly ids: Ids;
  readonly logger: LoggerService;
};

/** Bodies of ordinary requests; state that comes inline may be larger (`bodyLimit` in a route's config). */
const BODY_LIMIT = 2 * 1024 * 1024;

type RouteConfig = { readonly bodyLimit?: number; readonly rawBody?: boolean };

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The request's id: the caller's own where it is a UUID, as the audit trail wants it (contract §2.5), else a new one. */
const requestId = (ids: Ids, given: string | string[] | undefined): string =>
  typeof given === 'string' && UUID.test(given) ? given.toLowerCase() : ids.uuid();

/** RFC 9112 §6.3. */
const hasNoBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0';

/**
 * `rawBody: true` in a route's config hands the body over as a stream, whatever its media type; `bodyLimit` sets the
 * route's own limit.
 */
const honourRouteConfigs = (fastify: FastifyInstance): void => {
  fastify.addHook('onRoute', (route) => {
    const config = route.config as RouteConfig | undefined;
    if (config?.bodyLimit) route.bodyLimit = config.bodyLimit;
  });
  fastify.addHook('onRequest', (request, reply, next) => {
    const { rawBody } = request.routeOptions.config as RouteConfig;
    if (rawBody) request.headers['content-type'] = 'application/octet-stream';
    // No media type at all: every body here is JSON. And one of no body says nothing: some clients always send theirs.
    else if (hasNoBody(request)) request.headers['content-type'] = JSON_API;
    else request.headers['content-type'] ??= JSON_API;
    void reply.header('x-request-id', request.id).header('content-type', JSON_API);
    // No name or id of ours holds a NUL, and Postgres takes none in a text.
    next(request.url.includes('%00') ? badRequest('The address holds a NUL character') : undefined);
  });
  fastify.addContentTypeParser('application/octet-stream', (request: FastifyRequest, payload, done) => {
    if ((request.routeOptions.config as RouteConfig).rawBody) done(null, payload);
    else done(Object.assign(new Error(`Unsupported media type; send ${JSON_API}`), { statusCode: 415 }));
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

/**
 * Who may send a large body is asked before it is read: a guard runs after that. A process without such routes needs
 * nobody who could tell.
 */
const identifyBeforeLargeBodies = (fastify: FastifyInstance, authenticator: () => Authenticator): void => {
  fastify.addHook('onRequest', async (request) => {
    if ((request.routeOptions.config as RouteConfig).bodyLimit) await identifyCaller(request, authenticator());
  });
};

/** An HTTP server over these modules, not yet listening. */
export const httpServer = async (
  root: Type | DynamicModule,
  { tls, trustedProxies = [], ids, logger }: HttpOptions,
): Promise<NestFastifyApplication> => {
  const adapter = new FastifyAdapter({
    ...(tls ? { https: tls } : {}),
    ...(trustedProxies.length > 0 ? { trustProxy: [...trustedProxies] } : {}),
    bodyLimit: BODY_LIMIT,
    requestIdHeader: false,
    genReqId: (request: IncomingMessage) => requestId(ids, request.headers['x-request-id']),
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
  acceptJsonApi(fastify);
  honourRouteConfigs(fastify);
  closeWhenAnswered(fastify);
  const app = await NestFactory.create<NestFastifyApplication>(root, adapter, {
    logger,
    abortOnError: false,
    // Ours are registered above.
    bodyParser: false,
  });
  const authenticator = (): Authenticator => app.get(Authenticator, { strict: false });
  const refused = new RefusedFilter();
  app.useGlobalFilters(new AccessFilter(authenticator, refused.catch.bind(refused)));
  identifyBeforeLargeBodies(fastify, authenticator);
  return app;
};
