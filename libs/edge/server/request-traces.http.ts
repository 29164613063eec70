import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RouteOptions } from '#access';
import { isTracing, setTraceId, startRequestTrace, type RequestTrace } from '#tracing';
import { CLIENT_CLOSED, getMethod } from './request-observer.http.js';

const SERVER_ERROR = 500;

const traces = new WeakMap<object, RequestTrace>();

/** Ends the span with the status of the response, or with that of a client that closed the connection. */
const endWithStatus = (trace: RequestTrace, { raw }: FastifyReply): void => {
  const status = raw.writableFinished ? raw.statusCode : CLIENT_CLOSED;
  const isFailure = status >= SERVER_ERROR;
  const error = isFailure ? { 'error.type': String(status) } : {};
  trace.end({ 'http.response.status_code': status, ...error }, isFailure);
};

/**
 * Starts the trace of a request. Its span has the pattern of the route and no part of the URL, because signed links are
 * secrets, and paths contain names of people.
 */
const startTrace = (request: FastifyRequest, scheme: 'http' | 'https'): RequestTrace | null => {
  const method = getMethod(request);
  const { url: route } = request.is404 ? {} : request.routeOptions;
  const { traceparent } = request.headers;
  return startRequestTrace(
    typeof traceparent === 'string' ? traceparent : undefined,
    route === undefined ? method : `${method} ${route}`,
    {
      'http.request.method': method === 'other' ? '_OTHER' : method,
      ...(route !== undefined && { 'http.route': route }),
      'url.scheme': scheme,
      'cadastre.request.id': request.id,
    },
  );
};

/**
 * Records a span of each request, except of essential routes such as health checks. The header `traceparent` continues the
 * client's trace, and the header `traceresponse` of the response names the span
 * (https://w3c.github.io/trace-context/#traceresponse-header). Call it before hooks that belong to the trace are registered.
 */
export const traceRequests = (fastify: FastifyInstance, { scheme }: { readonly scheme: 'http' | 'https' }): void => {
  if (!isTracing()) return;
  fastify.addHook('onRequest', (request, reply, next) => {
    const { isEssential = false } = (request.routeOptions.config ?? {}) as RouteOptions;
    const trace = isEssential ? null : startTrace(request, scheme);
    if (!trace) return next();
    traces.set(request, trace);
    setTraceId(request.raw, trace.traceId);
    void reply.header('traceresponse', trace.traceparent);
    reply.raw.once('close', () => endWithStatus(trace, reply));
    trace.run(next);
  });
  // Events of the body's stream do not belong to the trace, so what follows the body has to join it again.
  fastify.addHook('preHandler', (request, _reply, next) => {
    const trace = traces.get(request);
    if (trace) trace.run(next);
    else next();
  });
};
