import type { FastifyInstance } from 'fastify';
import { notFound, Refusal } from '#platform/kernel';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const listAllowedMethods = (fastify: FastifyInstance, url: string): readonly string[] =>
  METHODS.filter((method) => fastify.findRoute({ method, url }));

const refuseMethod = (method: string, allowed: readonly string[]): Refusal => {
  const detail = `${method} is not supported at this address. Supported methods: ${allowed.join(', ')}`;
  return new Refusal('method-not-allowed', [{ detail }]);
};

/**
 * Responds to requests without a route before their bodies are read, with or without a token: 404 for an unknown
 * address, 405 with `Allow` for another method of a known one (RFC 9110 §15.5.6), and 204 with `Allow` for OPTIONS.
 */
export const answerUnknownRoutes = (fastify: FastifyInstance): void => {
  fastify.addHook('onRequest', (request, reply, next) => {
    if (!request.is404) return next();
    const allowed = listAllowedMethods(fastify, request.url);
    if (allowed.length === 0) return next(notFound());
    void reply.header('allow', allowed.join(', '));
    if (request.method !== 'OPTIONS') return next(refuseMethod(request.method, allowed));
    void reply.removeHeader('content-type').status(204).send();
  });
};
