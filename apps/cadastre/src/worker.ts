import 'reflect-metadata';
import { register } from 'prom-client';
import { EncryptionKeys } from '#platform/encryption';
import { replaceMetrics } from '#api/edge';
import { readSettings, toWorkerSettings } from '#platform/settings';
import { openGateway } from '../../gateway/src/gateway.js';
import { adoptKeys, openRuntime, type Runtime } from '../../runtime.js';
import { openTracing } from '../../tracing.js';
import { stopServing } from '../../stop-serving.js';
import { describeFailure } from './start-errors.js';
import type { MessageToPrimary, MessageToWorker } from './worker-messages.js';

const send = (message: MessageToPrimary): void => void (process.connected && process.send?.(message));

/** Makes /metrics respond with the metrics of all processes, which the primary collects. */
const shareMetrics = ({ store }: Runtime): void => {
  const scrapes: ((text: string) => void)[] = [];
  replaceMetrics(
    () =>
      new Promise((resolve) => {
        scrapes.push(resolve);
        send({ kind: 'scrape' });
      }),
  );
  const sendMetrics = async (): Promise<void> => {
    store.database.reportLoad();
    send({ kind: 'metrics', metrics: await register.getMetricsAsJSON() });
  };
  process.on('message', (message: MessageToWorker) => {
    if (message.kind === 'collect') void sendMetrics();
    else if (message.kind === 'scraped') for (const resolve of scrapes.splice(0)) resolve(message.text);
  });
};

const decodeKey = (text: string): Buffer => Buffer.from(text, 'base64');

/** Resolves to the keys from the primary. Node keeps the message until this function listens for it. */
const receiveKeys = (): Promise<EncryptionKeys> =>
  new Promise((resolve) => {
    process.once('message', (message: MessageToWorker) => {
      if (message.kind !== 'keys') throw new Error('the first message to a worker must contain the keys');
      resolve(
        new EncryptionKeys(decodeKey(message.current), message.previous === null ? null : decodeKey(message.previous)),
      );
    });
  });

/** Serves requests until the signal to stop, like a gateway beside the primary. */
const runWorker = async (): Promise<void> => {
  const settings = toWorkerSettings(readSettings(process.env));
  const encryptionKeys = await receiveKeys();
  const runtime = await openRuntime(settings, { name: 'worker', beside: true, encryptionKeys });
  const tracing = await openTracing(runtime, 'worker');
  shareMetrics(runtime);
  await adoptKeys(runtime);
  const { app } = await openGateway(runtime, { sharesPort: true });
  send({ kind: 'ready' });
  await stopRequested;
  await stopServing(app, runtime.settings.shutdownDelayMs ?? 0);
  await runtime.close();
  await tracing?.stop();
};

const stopRequested = new Promise<void>((resolve) => process.on('SIGTERM', () => resolve()));
process.once('disconnect', () => {
  process.stderr.write('The first process of the server has ended, so this worker ends too.\n');
  process.exit(1);
});
// A terminal sends these to all processes. The primary then sends SIGTERM.
for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
// The terminal or pipe may close before the process ends.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
try {
  await runWorker();
} catch (error) {
  process.stderr.write(`${describeFailure(error)}\n`);
  process.exitCode = 1;
}
// The connection to the primary would keep the process running.
process.exit();
