import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RouteOptions } from '#api/access';

const FIRST_ERROR = 400;

/** Calls the function when the response of a route with endless responses begins. Refusals are no such responses. */
export const onEndlessResponse = (
  fastify: FastifyInstance,
  onBegin: (request: FastifyRequest, reply: FastifyReply) => void,
): void => {
  fastify.addHook('onRoute', (route) => {
    if (!((route.config ?? {}) as RouteOptions).isEndless) return;
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      (request: FastifyRequest, reply: FastifyReply, _body: unknown, done: () => void) => {
        if (reply.statusCode < FIRST_ERROR) onBegin(request, reply);
        done();
      },
    ];
  });
};
