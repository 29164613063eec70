import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { register } from 'prom-client';
import { Readiness, replaceMetrics } from '#edge';
import { readSettings, toWorkerSettings } from '#host';
import { openGateway } from '../../gateway/src/gateway.js';
import { openRuntime, type Runtime } from '../../runtime.js';
import { stopServing } from '../../stop-serving.js';
import { describeFailure } from './start-errors.js';
import type { MessageToPrimary, MessageToWorker } from './worker-messages.js';

/** A terminal and some service managers send signals to all processes. The primary decides when a worker stops. */
const IGNORED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const send = (message: MessageToPrimary): void => {
  // Without a connection the primary has ended, and this process ends too.
  if (process.connected) process.send?.(message);
};

type OpenWorker = { readonly runtime: Runtime; readonly app: NestFastifyApplication };

/** Makes /metrics respond with the metrics of all processes, which the primary collects. */
const scrapePrimary = (): ((id: number, text: string) => void) => {
  const waiting = new Map<number, (text: string) => void>();
  let count = 0;
  replaceMetrics(
    () =>
      new Promise((resolve) => {
        const id = (count += 1);
        waiting.set(id, resolve);
        send({ kind: 'scrape', id });
      }),
  );
  return (id, text) => {
    waiting.get(id)?.(text);
    waiting.delete(id);
  };
};

const sendMetrics = async ({ store }: Runtime, id: number): Promise<void> => {
  store.database.reportLoad();
  send({ kind: 'metrics', id, metrics: await register.getMetricsAsJSON() });
};

const stop = async ({ runtime, app }: OpenWorker): Promise<void> => {
  try {
    await stopServing(app, runtime.settings.shutdownDelayMs ?? 0);
    await runtime.close();
  } catch (error) {
    runtime.logger.error({ err: error }, 'the worker did not stop cleanly');
    process.exitCode = 1;
  }
  process.exit();
};

const openWorker = async (): Promise<OpenWorker> => {
  const runtime = await openRuntime(toWorkerSettings(readSettings(process.env)), { name: 'worker', joined: true });
  const { app } = await openGateway(runtime, (server) => server.get(Readiness, { strict: false }).startWaiting());
  return { runtime, app };
};

/** Serves requests as one of several processes. It ends with the primary, however that ends. */
export const runWorker = async (): Promise<void> => {
  for (const signal of IGNORED_SIGNALS) process.on(signal, () => undefined);
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const opening = openWorker();
  const answered = scrapePrimary();
  process.on('message', (message: MessageToWorker) => {
    // A failure to open is reported below.
    const whenOpen = (work: (worker: OpenWorker) => unknown): void => void opening.then(work).catch(() => undefined);
    if (message.kind === 'serving') whenOpen(({ app }) => app.get(Readiness, { strict: false }).endWaiting());
    else if (message.kind === 'stop') opening.then(stop, () => process.exit(1));
    else if (message.kind === 'collect') whenOpen(({ runtime }) => sendMetrics(runtime, message.id));
    else answered(message.id, message.text);
  });
  try {
    await opening;
    send({ kind: 'ready' });
  } catch (error) {
    process.send?.({ kind: 'failed', reason: describeFailure(error) } satisfies MessageToPrimary, () =>
      process.exit(1),
    );
  }
};
