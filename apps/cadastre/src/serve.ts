import { join } from 'node:path';
import { ensureAdmin, hasAdmin } from '#people';
import { InvalidSettingsError, readOrCreateSecret, type Settings } from '#host';
import { openGateway } from '../../gateway/src/gateway.js';
import { migrateDatabase, openRuntime, type Runtime } from '../../runtime.js';
import { openProjector } from '../../projector/src/projector.js';
import { openPublisher } from '../../publisher/src/publisher.js';
import { openHealth } from '../../health.js';
import { stopServing } from '../../stop-serving.js';
import { greet } from './greeting.js';

export type StoppableService = { stop(): Promise<void> };

const ADMIN_TOKEN = 'admin-token';

/**
 * The administrator's token: the one that is set; else one that is made at the first start and kept in a file. Where an
 * administrator can get in already, nothing is made: a second gateway has a data folder of its own, without that file.
 * Resolves to a token that was made now, to be shown this once; else to null.
 */
const ensureAdminToken = async ({ settings, store, ids }: Runtime): Promise<string | null> => {
  if (settings.adminToken !== null) {
    await ensureAdmin(store, ids, settings.adminToken);
    return null;
  }
  if (await hasAdmin(store)) return null;
  const token = await readOrCreateSecret(settings.dataFolder, ADMIN_TOKEN, () => ids.secret());
  await ensureAdmin(store, ids, token);
  return token;
};

/** Opens one after the other, and stops what is open in the opposite order, also when one of them fails to open. */
const startInOrder = async (
  settings: Settings,
  name: string,
  stopping: AbortSignal,
  open: (house: Runtime, opened: RegisterService) => Promise<void>,
) => {
  const house = await openRuntime(settings, { name });
  const stops: StoppableService[] = [{ stop: () => house.close() }];
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    // One that fails to stop must not keep the others, and the database under them, from stopping.
    for (const running of stops.toReversed()) await running.stop().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, 'not everything stopped cleanly');
  };
  try {
    await migrateDatabase(house, { retries: Number.POSITIVE_INFINITY, signal: stopping });
    await open(house, (running) => void stops.push(running));
  } catch (error) {
    await stop();
    throw error;
  }
  return { stop };
};

type RegisterService = (running: StoppableService) => void;

/** Gateways are behind a load balancer, which needs a few seconds to notice that /readyz fails. */
const GATEWAY_SHUTDOWN_DELAY_MS = 5_000;

/** Everything in one process. Resolves when requests are answered. */
export const serve = (settings: Settings, stopping: AbortSignal): Promise<StoppableService> =>
  startInOrder(settings, 'serve', stopping, async (house, opened) => {
    const token = await ensureAdminToken(house);
    const publisher = openPublisher(house);
    if (publisher) opened(publisher);
    opened(openProjector(house));
    // Last to open and first to stop: nothing new comes in while the others finish.
    const { app, caFile } = await openGateway(house);
    opened({ stop: () => stopServing(app, settings.shutdownDelayMs ?? 0) });
    greet({ settings, caFile, token, tokenFile: ADMIN_TOKEN });
  });

export const serveGateway = (settings: Settings, stopping: AbortSignal): Promise<StoppableService> =>
  startInOrder(settings, 'gateway', stopping, async (house, opened) => {
    const madeToken = await ensureAdminToken(house);
    const { app } = await openGateway(house);
    opened({ stop: () => stopServing(app, settings.shutdownDelayMs ?? GATEWAY_SHUTDOWN_DELAY_MS) });
    if (madeToken !== null) {
      house.logger.info(`made the administrator's token: ${join(settings.dataFolder, ADMIN_TOKEN)}`);
    }
    house.logger.info(`gateway listens on ${settings.host}:${settings.port}`);
  });

export const serveProjector = (settings: Settings, stopping: AbortSignal): Promise<StoppableService> =>
  startInOrder(settings, 'projector', stopping, async (house, opened) => {
    opened(openProjector(house));
    opened(await openHealth(house));
  });

export const servePublisher = (settings: Settings, stopping: AbortSignal): Promise<StoppableService> =>
  startInOrder(settings, 'publisher', stopping, async (house, opened) => {
    const publisher = openPublisher(house);
    if (!publisher) throw new InvalidSettingsError(['KAFKA_BROKERS: missing, the publisher has nowhere to publish to']);
    opened(publisher);
    opened(await openHealth(house));
  });
