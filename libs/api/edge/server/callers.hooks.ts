import type { FastifyInstance, FastifyRequest } from 'fastify';
import { identifyCaller, type Authenticator, type RouteOptions } from '#api/access';
import { getContentLength, canHaveBody } from '../bodies/request-bodies.hooks.js';

/**
 * Identifies the caller of each request that has a body, before the server reads the body. Public routes have no
 * caller.
 */
export const identifyBeforeBody = (fastify: FastifyInstance, authenticator: () => Authenticator): void => {
  fastify.addHook('onRoute', (route) => {
    const { isPublic, page } = (route.config ?? {}) as RouteOptions;
    // AuthenticateGuard identifies the callers of pages, and of requests without a body.
    if (isPublic || page || !canHaveBody(route.method)) return;
    const identify = async (request: FastifyRequest): Promise<void> => {
      if (getContentLength(request.headers) > 0) await identifyCaller(request, authenticator());
    };
    route.onRequest = [...[route.onRequest ?? []].flat(), identify];
  });
};
