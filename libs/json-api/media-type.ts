import { badRequest } from '#kernel';
import type { FastifyInstance, FastifyRequest } from 'fastify';

export const JSON_API = 'application/vnd.api+json';

/**
 * Teaches Fastify the API's media type. An empty body is no body, whatever its media type says: clients send
 * `Content-Type` with lock, unlock and delete requests that carry nothing.
 */
export const acceptJsonApi = (fastify: FastifyInstance): void => {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  // Fastify's own would also take text/plain, which nothing here means.
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser(
    [JSON_API, 'application/json'],
    { parseAs: 'string' },
    (request: FastifyRequest, body, done) => {
      if (body === '') done(null, undefined);
      else {
        void parse(request, body as string, (error, parsed) => {
          // Fastify's own text tells of another media type than the one that came.
          if (error) done(badRequest('The body is not valid JSON'));
          else done(null, parsed);
        });
      }
    },
  );
};
