import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RouteOptions } from '#api/access';
import { isTracing, setTraceId, startRequestTrace, type RequestSpan, type RequestTrace } from '#platform/tracing';
import { onEndlessResponse } from './endless-responses.http.js';
import { CLIENT_CLOSED, getMethod } from './request-observer.http.js';

const SERVER_ERROR = 500;

const SPAN = Symbol('span of the request');

type RecordedRequest = FastifyRequest & { [SPAN]?: RequestSpan };

/** Returns the status of the response, or that of a client that closed the connection. */
const getEndStatus = ({ raw }: FastifyReply): number => (raw.writableFinished ? raw.statusCode : CLIENT_CLOSED);

const endWithStatus = (span: RequestSpan, status: number): void => {
  const isFailure = status >= SERVER_ERROR;
  const error = isFailure ? { 'error.type': String(status) } : {};
  span.end({ 'http.response.status_code': status, ...error }, isFailure);
};

/**
 * Describes a request by the pattern of its route and by no part of the URL, because signed links are secrets, and paths
 * contain names of people.
 */
const describeSpan = (request: FastifyRequest, scheme: 'http' | 'https') => {
  const method = getMethod(request);
  const { url: route } = request.is404 ? {} : request.routeOptions;
  return {
    name: route === undefined ? method : `${method} ${route}`,
    attributes: {
      'http.request.method': method === 'other' ? '_OTHER' : method,
      ...(route !== undefined && { 'http.route': route }),
      'url.scheme': scheme,
      'cadastre.request.id': request.id,
    },
  };
};

const startTrace = (request: FastifyRequest, scheme: 'http' | 'https'): RequestTrace | null => {
  const { traceparent } = request.headers;
  return startRequestTrace(typeof traceparent === 'string' ? traceparent : undefined, () =>
    describeSpan(request, scheme),
  );
};

/**
 * Records a span of each request, except of essential routes such as health checks. The header `traceparent` continues the
 * client's trace, and the header `traceresponse` of the response names the span
 * (https://w3c.github.io/trace-context/#traceresponse-header). Call it before hooks that belong to the trace are registered.
 */
export const traceRequests = (fastify: FastifyInstance, { scheme }: { readonly scheme: 'http' | 'https' }): void => {
  if (!isTracing()) return;
  fastify.addHook('onRequest', (request: RecordedRequest, reply, next) => {
    const { isEssential = false } = (request.routeOptions.config ?? {}) as RouteOptions;
    const trace = isEssential ? null : startTrace(request, scheme);
    if (!trace) return next();
    setTraceId(request.raw, trace.traceId);
    void reply.header('traceresponse', trace.traceparent);
    const { span } = trace;
    if (!span) return next();
    request[SPAN] = span;
    reply.raw.once('close', () => {
      if (request[SPAN]) endWithStatus(span, getEndStatus(reply));
    });
    span.run(next);
  });
  // Events of the body's stream do not belong to the trace, so what follows the body has to join it again.
  fastify.addHook('preHandler', (request: RecordedRequest, _reply, next) => {
    const span = request[SPAN];
    if (span) span.run(next);
    else next();
  });
  onEndlessResponse(fastify, (request: RecordedRequest, { statusCode }) => {
    const span = request[SPAN];
    delete request[SPAN];
    if (span) endWithStatus(span, statusCode);
  });
};
