import { fork, type ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AggregatorRegistry, register } from 'prom-client';
import type { EncryptionKeys } from '#platform/encryption';
import { StartupError } from '#platform/host';
import { Backoff } from '#platform/kernel';
import type { ProcessLogger } from '../../runtime.js';
import type { MessageToPrimary, MessageToWorker, MetricsOfProcess } from './worker-messages.js';

const WORKER = fileURLToPath(new URL('worker.js', import.meta.url));
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
const STABLE_MS = 60_000;
/** The metrics of a worker that is busy for longer are left out. */
const COLLECT_MS = 2_000;

/**
 * Processes that share the address of the server, each with its own gateway. The kernel distributes the connections
 * (SO_REUSEPORT), so that they do not wait for this process, and a worker that stops refuses them as a gateway does. If
 * a worker ends, the others serve its clients, and another worker is started after a pause.
 */
export class WorkerPool {
  private readonly workers = new Set<ChildProcess>();
  private readonly serving = new Set<ChildProcess>();
  private readonly collections = new Map<ChildProcess, (metrics: MetricsOfProcess | null) => void>();
  private readonly stopping = new AbortController();
  private readonly started = Promise.withResolvers<void>();
  private readonly backoff: Backoff;
  private hasServed = false;
  private rendering: Promise<string> | null = null;

  constructor(
    private readonly size: number,
    private readonly keys: Pick<EncryptionKeys, 'current' | 'previous'>,
    private readonly logger: ProcessLogger,
  ) {
    this.backoff = new Backoff({
      logger,
      subject: 'a worker',
      firstMs: FIRST_PAUSE_MS,
      maxMs: MAX_PAUSE_MS,
      stableMs: STABLE_MS,
    });
  }

  /** Resolves when a worker serves requests. Rejects if a worker ends before that, and after an abort. */
  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    signal.addEventListener('abort', () => this.started.reject(signal.reason as Error), { once: true });
    for (let n = 0; n < this.size; n += 1) this.open();
    await this.started.promise;
  }

  /** Resolves when all workers have sent their responses and ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(
      [...this.workers].map(async (worker) => {
        const ended = new Promise((resolve) => worker.once('exit', resolve));
        worker.kill('SIGTERM');
        await ended;
      }),
    );
  }

  private open(): void {
    const worker = fork(WORKER);
    this.workers.add(worker);
    this.send(worker, {
      kind: 'keys',
      current: this.keys.current.toString('base64'),
      previous: this.keys.previous?.toString('base64') ?? null,
    });
    worker.on('message', (message: MessageToPrimary) => this.receive(worker, message));
    worker.once('exit', (code, signal) => this.replace(worker, signal ?? `exit code ${code}`));
    worker.on('error', (error) => {
      if (worker.pid === undefined) this.replace(worker, error.message);
      else this.logger.debug({ err: error }, 'a worker ended while a message was sent to it');
    });
  }

  private receive(worker: ChildProcess, message: MessageToPrimary): void {
    switch (message.kind) {
      case 'ready':
        return this.admit(worker);
      case 'metrics':
        return this.collections.get(worker)?.(message.metrics);
      case 'scrape':
        return void this.scrape().then((text) => this.send(worker, { kind: 'scraped', text }));
    }
  }

  private send(worker: ChildProcess, message: MessageToWorker): void {
    if (worker.connected) worker.send(message);
  }

  private admit(worker: ChildProcess): void {
    this.serving.add(worker);
    this.backoff.succeeded();
    this.logger.info({ worker: worker.pid }, 'worker serves requests');
    this.hasServed = true;
    this.started.resolve();
  }

  private replace(worker: ChildProcess, reason: string): void {
    this.workers.delete(worker);
    this.serving.delete(worker);
    this.collections.get(worker)?.(null);
    if (this.stopping.signal.aborted) return;
    const error = new StartupError(`worker ${worker.pid} ended with ${reason}`);
    if (!this.hasServed) return this.started.reject(error);
    delay(this.backoff.failed(error), undefined, { signal: this.stopping.signal }).then(
      () => this.open(),
      () => undefined,
    );
  }

  /** Returns the metrics of this process and of all workers: sums, unless a metric has another aggregator. */
  private scrape(): Promise<string> {
    // Two workers may be scraped at the same time.
    this.rendering ??= this.renderMetrics().finally(() => (this.rendering = null));
    return this.rendering;
  }

  private async renderMetrics(): Promise<string> {
    const ofWorkers = [...this.serving].map((worker) => this.collectFrom(worker));
    const all = await Promise.all([register.getMetricsAsJSON(), ...ofWorkers]);
    return AggregatorRegistry.aggregate(all.filter((metrics) => metrics !== null)).metrics();
  }

  /** Resolves to null if the worker ends, or is busy for too long. */
  private async collectFrom(worker: ChildProcess): Promise<MetricsOfProcess | null> {
    const { promise, resolve } = Promise.withResolvers<MetricsOfProcess | null>();
    const timer = setTimeout(() => resolve(null), COLLECT_MS);
    this.collections.set(worker, resolve);
    this.send(worker, { kind: 'collect' });
    const metrics = await promise;
    clearTimeout(timer);
    this.collections.delete(worker);
    return metrics;
  }
}
