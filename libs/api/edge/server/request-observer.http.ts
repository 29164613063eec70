import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuthenticatedRequest } from '#api/access';
import { getTraceId } from '#platform/tracing';
import { onEndlessResponse } from './endless-responses.http.js';

/** A request whose response has ended, or whose client has disconnected, or whose endless response has begun. */
export type CompletedRequest = {
  readonly requestId: string;
  /** Absent if the request belongs to no trace. */
  readonly traceId?: string;
  readonly method: string;
  /** The pattern of the route; `unknown` without a route. */
  readonly route: string;
  /** 499 if the client closed the connection before the end of the response. */
  readonly status: number;
  readonly caller: string | null;
  readonly durationMs: number;
  /** Bytes of the response, including headers. */
  readonly bytesSent: number;
};

export type RequestObserver = {
  started?(): void;
  completed(request: CompletedRequest): void;
};

/** The status that nginx logs. */
export const CLIENT_CLOSED = 499;

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Callers choose methods, so only known methods become labels. */
export const getMethod = ({ method }: FastifyRequest): string => (METHODS.has(method) ? method : 'other');

const getRoute = ({ routeOptions, is404 }: FastifyRequest): string =>
  is404 ? 'unknown' : (routeOptions.url ?? 'unknown');

const REPORT = Symbol('report of the request');

type ObservedRequest = AuthenticatedRequest & { [REPORT]?: ((status: number) => void) | undefined };

/** Reports each request once, when it is completed. */
export const observeRequests = (fastify: FastifyInstance, observers: readonly RequestObserver[]): void => {
  fastify.addHook('onRequest', (request: ObservedRequest, reply, next) => {
    const startedAt = performance.now();
    const { socket } = request;
    const sentBefore = socket.bytesWritten;
    for (const observer of observers) observer.started?.();
    const report = (status: number): void => {
      if (!request[REPORT]) return;
      request[REPORT] = undefined;
      const traceId = getTraceId(request.raw);
      const completed: CompletedRequest = {
        requestId: request.id,
        ...(traceId !== undefined && { traceId }),
        method: getMethod(request),
        route: getRoute(request),
        status,
        caller: request.actor?.id ?? null,
        durationMs: Math.round((performance.now() - startedAt) * 1_000) / 1_000,
        bytesSent: socket.bytesWritten - sentBefore,
      };
      for (const observer of observers) observer.completed(completed);
    };
    request[REPORT] = report;
    // Fastify does not call onResponse if the client disconnects.
    reply.raw.once('close', () => report(reply.raw.writableFinished ? reply.raw.statusCode : CLIENT_CLOSED));
    next();
  });
  onEndlessResponse(fastify, (request: ObservedRequest, { statusCode }) => request[REPORT]?.(statusCode));
};
