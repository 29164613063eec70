import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuthenticatedRequest } from '#access';

/** A request that has been answered, or whose client has gone. */
export type CompletedRequest = {
  readonly requestId: string;
  readonly method: string;
  /** The pattern of the route; `unknown` if there is none. */
  readonly route: string;
  /** 499 if the client closed the connection before the end of the response. */
  readonly status: number;
  readonly caller: string | null;
  readonly durationMs: number;
  /** Bytes of the response, headers included. */
  readonly bytesSent: number;
};

export type RequestObserver = {
  started?(): void;
  completed(request: CompletedRequest): void;
};

/** The same status as in the logs of nginx. */
const CLIENT_CLOSED = 499;

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Callers choose methods: few of them may become labels. */
const getMethod = ({ method }: FastifyRequest): string => (METHODS.has(method) ? method : 'other');

const getRoute = ({ routeOptions, is404 }: FastifyRequest): string =>
  is404 ? 'unknown' : (routeOptions.url ?? 'unknown');

/** Reports each request once, when its response has ended or its client has gone. */
export const observeRequests = (fastify: FastifyInstance, observers: readonly RequestObserver[]): void => {
  fastify.addHook('onRequest', (request: AuthenticatedRequest, reply, next) => {
    const startedAt = performance.now();
    const { socket } = request;
    const sentBefore = socket.bytesWritten;
    for (const observer of observers) observer.started?.();
    // Not onResponse, which Fastify skips if the client goes away.
    reply.raw.once('close', () => {
      const completed: CompletedRequest = {
        requestId: request.id,
        method: getMethod(request),
        route: getRoute(request),
        status: reply.raw.writableFinished ? reply.raw.statusCode : CLIENT_CLOSED,
        caller: request.actor?.id ?? null,
        durationMs: Math.round((performance.now() - startedAt) * 1_000) / 1_000,
        bytesSent: socket.bytesWritten - sentBefore,
      };
      for (const observer of observers) observer.completed(completed);
    });
    next();
  });
};
