import { join } from 'node:path';
import { hasAdmin } from '#identity/people';
import { hasOrganizations } from '#organizations/organizations';
import { collectProcessMetrics } from '#api/edge';
import { StartupError, VERSION } from '#platform/host';
import { describeMissingConnections, InvalidSettingsError, type Settings } from '#platform/settings';
import { readMaxConnections } from '#platform/postgres';
import { loadTlsOptions, openGateway } from '../../gateway/src/gateway.js';
import { migrateDatabase, openRuntime, type Runtime } from '../../runtime.js';
import { openProjector } from '../../projector/src/projector.js';
import { openPublisher } from '../../publisher/src/publisher.js';
import { openHealth } from '../../health.js';
import { openTracing } from '../../tracing.js';
import { stopServing } from '../../stop-serving.js';
import { ADMIN_TOKEN_FILE, ensureAdminAccess, presentSignInLink } from './admin-access.js';
import { EmbeddedExecutor, prepareExecutor } from './embedded-executor.js';
import { formatGreeting } from './greeting.js';
import { WorkerPool } from './worker-pool.js';

export type StoppableService = {
  stop(): Promise<void>;
  /** Makes a running stop faster. Returns what happens for the terminal, and null if nothing does. */
  hurry?(): string | null;
};

/** Opens services one after the other, and stops them in the opposite order, also if one of them fails to open. */
const startInOrder = async (
  settings: Settings,
  name: string,
  stopping: AbortSignal,
  open: (runtime: Runtime, opened: RegisterService) => Promise<void>,
) => {
  const retries = Number.POSITIVE_INFINITY;
  const runtime = await openRuntime(settings, { name, retries, signal: stopping });
  const stops: StoppableService[] = [{ stop: () => runtime.close() }];
  const tracing = await openTracing(runtime, name);
  if (tracing) stops.unshift(tracing);
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    // A service that fails to stop must not prevent the others, and their database, from stopping.
    for (const running of stops.toReversed()) await running.stop().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw new AggregateError(failures, 'some services did not stop cleanly');
  };
  try {
    await migrateDatabase(runtime, { retries, signal: stopping });
    await open(runtime, (running) => void stops.push(running));
  } catch (error) {
    await stop();
    throw error;
  }
  const hurry = (): string | null => stops.map((one) => one.hurry?.() ?? null).find((text) => text !== null) ?? null;
  return { stop, hurry };
};

type RegisterService = (running: StoppableService) => void;

/** Gateways are behind a load balancer, which needs a few seconds to notice that /readyz fails. */
const GATEWAY_SHUTDOWN_DELAY_MS = 5_000;

type RunningServer = { readonly caFile: string | null; stop(): Promise<void> };

const openOne = async (runtime: Runtime): Promise<RunningServer> => {
  const { app, caFile } = await openGateway(runtime);
  return { caFile, stop: () => stopServing(app, runtime.settings.shutdownDelayMs ?? 0) };
};

/** Starts workers with a gateway each. This process keeps the database, the followers and the publisher. */
const openWorkers = async (runtime: Runtime, stopping: AbortSignal): Promise<RunningServer> => {
  const { settings, store, logger, encryptionKeys } = runtime;
  if (process.platform !== 'linux') throw new StartupError('CADASTRE_WORKERS: must be 1, except on Linux');
  const problem = describeMissingConnections(settings, await readMaxConnections(store.database));
  if (problem !== null) throw new StartupError(problem);
  // Creates the certificate before several processes need it.
  const tls = await loadTlsOptions(runtime);
  collectProcessMetrics(VERSION);
  const pool = new WorkerPool(settings.workers, encryptionKeys, logger);
  try {
    await pool.start(stopping);
  } catch (error) {
    await pool.stop();
    throw error;
  }
  return { caFile: tls?.caFile ?? null, stop: () => pool.stop() };
};

/** Starts everything in one process, or with workers that serve the requests. Resolves when it serves requests. */
export const serve = (settings: Settings, stopping: AbortSignal): Promise<StoppableService> =>
  startInOrder(settings, 'serve', stopping, async (runtime, opened) => {
    // Before the administrator, so that an interrupted first start is repeated as the first one.
    const executor = await prepareExecutor(runtime, !(await hasAdmin(runtime.store)), stopping);
    const access = await ensureAdminAccess(runtime);
    const hasContent = await hasOrganizations(runtime.store.database);
    const signInLink = access.isFirstStart ? await presentSignInLink(runtime, process.stdout.isTTY) : null;
    const publisher = openPublisher(runtime);
    if (publisher) opened(publisher);
    opened(openProjector(runtime));
    // The gateway opens last and stops first, so that no new request arrives while the others stop.
    const server = await (settings.workers > 1 ? openWorkers(runtime, stopping) : openOne(runtime));
    opened(server);
    const { caFile } = server;
    if (executor.starts) {
      const embedded = new EmbeddedExecutor(runtime, caFile);
      opened(embedded);
      embedded.start();
    }
    const greeting = formatGreeting({
      settings,
      caFile,
      tokenSource: access.token,
      signInLink,
      hasOrganizations: hasContent,
      remoteRuns: executor.description,
    });
    process.stdout.write(`${greeting}\n`);
  });

export const serveGateway = (settings: Settings, stopping: AbortSignal): Promise<StoppableService> =>
  startInOrder(settings, 'gateway', stopping, async (runtime, opened) => {
    const { token, isFirstStart } = await ensureAdminAccess(runtime);
    const { app } = await openGateway(runtime);
    opened({ stop: () => stopServing(app, settings.shutdownDelayMs ?? GATEWAY_SHUTDOWN_DELAY_MS) });
    if (isFirstStart && token === 'file') {
      runtime.logger.info({ file: join(settings.dataFolder, ADMIN_TOKEN_FILE) }, "created the administrator's token");
    }
    runtime.logger.info({ host: settings.host, port: settings.port }, 'gateway listens');
  });

export const serveProjector = (settings: Settings, stopping: AbortSignal): Promise<StoppableService> =>
  startInOrder(settings, 'projector', stopping, async (runtime, opened) => {
    opened(openProjector(runtime));
    opened(await openHealth(runtime));
  });

export const servePublisher = (settings: Settings, stopping: AbortSignal): Promise<StoppableService> =>
  startInOrder(settings, 'publisher', stopping, async (runtime, opened) => {
    const publisher = openPublisher(runtime);
    if (!publisher)
      throw new InvalidSettingsError([
        'KAFKA_BROKERS: missing; the publisher needs at least one broker, such as broker.example.com:9092',
      ]);
    opened(publisher);
    opened(await openHealth(runtime));
  });
