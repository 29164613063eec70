import helmet from '@fastify/helmet';
import type { FastifyInstance, FastifyReply } from 'fastify';

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
export const setSecurityHeaders = async (
  fastify: FastifyInstance,
  { requiresTls }: { readonly requiresTls: boolean },
): Promise<void> => {
  await fastify.register(helmet, {
    global: false,
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
  let headers: Readonly<Record<string, string>> | null = null;
  fastify.addHook('onRequest', (_request, reply, next) => {
    headers ??= { ...collectHelmetHeaders(reply), 'cache-control': 'no-store' };
    void reply.headers(headers);
    next();
  });
};

/**
 * Returns the headers that Helmet sets, with lower-case names. They are the same for every response. Helmet would
 * compute them for each request and set them without Fastify, so that Node has to merge two sets of headers.
 */
const collectHelmetHeaders = (reply: FastifyReply): Record<string, string> => {
  const before = new Set(reply.raw.getHeaderNames());
  void reply.helmet();
  const names = reply.raw.getHeaderNames().filter((name) => !before.has(name));
  const headers = Object.fromEntries(names.map((name) => [name, String(reply.raw.getHeader(name))]));
  for (const name of names) reply.raw.removeHeader(name);
  return headers;
};
