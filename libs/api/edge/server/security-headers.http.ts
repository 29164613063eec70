import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import helmet from 'helmet';

const YEAR_SECONDS = 365 * 24 * 3_600;

/**
 * Sets headers that keep browsers and caches from misusing responses: `nosniff`, a content policy that allows nothing,
 * `Cache-Control: no-store`, and HSTS if browsers may reach the host with TLS only (`requiresTls`).
 *
 * `no-store` is the default of every response, because most responses contain state, secrets or names, and no client of
 * the API caches. Routes whose clients revalidate by ETag (provider downloads) set their own.
 *
 * Helmet's other headers are left out: they concern pages and downloads in browsers of 2010, and each costs time.
 */
export const setSecurityHeaders = (
  fastify: FastifyInstance,
  { requiresTls }: { readonly requiresTls: boolean },
): void => {
  const headers = { ...collectHelmetHeaders(requiresTls), 'cache-control': 'no-store' };
  fastify.addHook('onRequest', (_request, reply, next) => {
    void reply.headers(headers);
    next();
  });
};

/**
 * Returns the headers that Helmet sets, with lower-case names. They are the same for every response. Fastify's plugin for
 * Helmet would add a function and two promises to each request, also where it sets no header.
 */
const collectHelmetHeaders = (requiresTls: boolean): Record<string, string> => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const setHeaders = helmet({
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    // Without subdomains, because other services may use them.
    strictTransportSecurity: requiresTls ? { maxAge: YEAR_SECONDS, includeSubDomains: false } : false,
    referrerPolicy: { policy: 'no-referrer' },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    crossOriginEmbedderPolicy: false,
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    // `frame-ancestors` has the same effect.
    xFrameOptions: false,
    xPermittedCrossDomainPolicies: false,
    xPoweredBy: false,
    xXssProtection: false,
  });
  setHeaders(response.req, response, () => undefined);
  return Object.fromEntries(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]));
};
