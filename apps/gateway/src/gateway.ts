import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createHttpServer, type HttpServerOptions, type RequestObserver } from '#api/edge';
import {
  listCertificateNames,
  createRequestLogger,
  ensureLocalCertificates,
  NestLoggerAdapter,
  VERSION,
} from '#platform/host';
import { oauthErrorFormats } from '#identity/oauth';
import { scimErrors } from '#identity/scim';
import { inspectBlobs, type Runtime } from '../../runtime.js';
import { GatewayModule } from './gateway.module.js';

type RunningGateway = { readonly app: NestFastifyApplication; readonly caFile: string | null };

type Tls = { readonly key: string; readonly cert: string; readonly caFile: string | null };

/** Reads the certificate, or creates one. Returns null without TLS. */
export const loadTlsOptions = async ({ settings, clock }: Runtime): Promise<Tls | null> => {
  const { tls, host, publicUrl, dataFolder } = settings;
  switch (tls.mode) {
    case 'off':
      return null;
    case 'files':
      return { key: await readFile(tls.key, 'utf8'), cert: await readFile(tls.cert, 'utf8'), caFile: null };
    case 'auto':
      return ensureLocalCertificates(join(dataFolder, 'tls'), listCertificateNames(host, publicUrl), clock);
  }
};

const createRequestLog = ({ settings, logger }: Runtime): RequestObserver | null => {
  if (!settings.requestLog || !logger.isLevelEnabled('info')) return null;
  const requests = createRequestLogger();
  return { completed: (request) => requests.log(request) };
};

/** Returns the options of the HTTP server that come from settings, except TLS. */
export const buildHttpOptions = (runtime: Runtime): Omit<HttpServerOptions, 'tls'> => {
  const { settings, clock, logger } = runtime;
  return {
    publicOrigin: settings.publicUrl,
    isLocalhost: new URL(settings.publicUrl).hostname === 'localhost',
    trustedProxies: settings.trustedProxies,
    limits: settings.http,
    rateLimits: { limits: settings.limits, clock },
    requestLog: createRequestLog(runtime),
    version: VERSION,
    logger: new NestLoggerAdapter(logger),
    errorFormats: [scimErrors, ...oauthErrorFormats],
  };
};

/**
 * Opens the gateway. It serves requests when this resolves. With `sharesPort`, several processes listen on the same
 * address.
 */
export const openGateway = async (
  runtime: Runtime,
  { sharesPort = false }: { readonly sharesPort?: boolean } = {},
): Promise<RunningGateway> => {
  const tls = await loadTlsOptions(runtime);
  const { port, host } = runtime.settings;
  const app = await createHttpServer(GatewayModule.over(runtime), { tls, ...buildHttpOptions(runtime) });
  // Listens on one address. For `localhost` with two addresses Fastify opens a second server without the limits.
  const { address } = await lookup(host);
  // With Node's backlog of 511, clients of a larger burst of new connections repeat their packets for seconds.
  // A variable, because Fastify's type lacks `reusePort`, which Fastify passes to Node.
  const listenOptions = { port, host: address, backlog: runtime.settings.http.connections, reusePort: sharesPort };
  await app.listen(listenOptions);
  void inspectBlobs(runtime);
  return { app, caFile: tls?.caFile ?? null };
};
