import { lookup } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { httpServer, type HttpOptions, type RequestObserver } from '#edge';
import { certificateNames, createRequestLogger, localCertificates, NestLog, VERSION } from '#host';
import { inspectBlobs, type House } from '../../house.js';
import { GatewayModule } from './gateway.module.js';

export type Gateway = { readonly app: NestFastifyApplication; readonly caFile: string | null };

type Tls = { readonly key: string; readonly cert: string; readonly caFile: string | null };

const tlsOf = async ({ settings, clock }: House): Promise<Tls | null> => {
  const { tls, host, publicUrl, dataFolder } = settings;
  switch (tls.mode) {
    case 'off':
      return null;
    case 'files':
      return { key: await readFile(tls.key, 'utf8'), cert: await readFile(tls.cert, 'utf8'), caFile: null };
    case 'auto':
      return localCertificates(join(dataFolder, 'tls'), certificateNames(host, publicUrl), clock);
  }
};

const requestLogOf = ({ settings, logger }: House): RequestObserver | null => {
  if (!settings.requestLog || !logger.isLevelEnabled('info')) return null;
  const requests = createRequestLogger();
  return { completed: (request) => requests.log(request) };
};

/** Everything but TLS that the HTTP server takes from settings. */
export const httpOptionsOf = (house: House): Omit<HttpOptions, 'tls'> => {
  const { settings, clock, logger } = house;
  return {
    trustedProxies: settings.trustedProxies,
    limits: settings.http,
    rateLimits: { limits: settings.limits, clock },
    requestLog: requestLogOf(house),
    version: VERSION,
    logger: new NestLog(logger),
  };
};

/** Listens when this resolves. */
export const openGateway = async (house: House): Promise<Gateway> => {
  const tls = await tlsOf(house);
  const { port, host } = house.settings;
  const app = await httpServer(GatewayModule.over(house), { tls, ...httpOptionsOf(house) });
  // One address. For `localhost` with two addresses Fastify opens a second server, which would have none of the limits.
  const { address } = await lookup(host);
  await app.listen(port, address);
  void inspectBlobs(house);
  return { app, caFile: tls?.caFile ?? null };
};
