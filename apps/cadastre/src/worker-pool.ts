import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { AggregatorRegistry, register } from 'prom-client';
import { StartupError } from '#host';
import { Backoff } from '#kernel';
import type { ProcessLogger } from '../../runtime.js';
import type { MessageToPrimary, MessageToWorker, MetricsOfProcess } from './worker-messages.js';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;
const STABLE_MS = 60_000;
/** A worker that is busy for longer is missing from the metrics. */
const COLLECT_MS = 2_000;

type Collection = { readonly missing: Set<Worker>; readonly replies: MetricsOfProcess[]; readonly finish: () => void };

/**
 * Processes that share the address of the server, each with its own gateway. If one ends, the others serve its clients, and
 * another one is started after a pause.
 */
export class WorkerPool {
  private readonly workers = new Set<Worker>();
  private readonly ready = new Set<Worker>();
  private readonly collections = new Map<number, Collection>();
  private readonly stopping = new AbortController();
  private readonly backoff: Backoff;
  private isServing = false;
  private collectionCount = 0;
  private allReady: () => void = () => undefined;
  private startFailed: (error: unknown) => void = () => undefined;

  constructor(
    private readonly size: number,
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

  /** Resolves when all workers serve requests. Rejects if one of them cannot start, and after an abort. */
  async start(signal: AbortSignal): Promise<void> {
    const started = new Promise<void>((resolve, reject) => {
      this.allReady = resolve;
      this.startFailed = reject;
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    signal.throwIfAborted();
    for (let n = 0; n < this.size; n += 1) this.fork();
    await started;
  }

  /** Resolves when all workers have answered their requests and ended. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(
      [...this.workers].map(async (worker) => {
        const ended = once(worker, 'exit');
        this.send(worker, { kind: 'stop' });
        await ended;
      }),
    );
  }

  private fork(): void {
    const worker = cluster.fork();
    this.workers.add(worker);
    worker.on('message', (message: MessageToPrimary) => this.receive(worker, message));
    worker.once('exit', (code, signal) => this.replace(worker, signal ?? `exit code ${code}`));
    // A worker that ends while a message is sent to it.
    worker.on('error', (error) => this.logger.debug({ err: error }, 'a worker could not be reached'));
  }

  private send(worker: Worker, message: MessageToWorker): void {
    if (worker.isConnected()) worker.send(message);
  }

  private receive(worker: Worker, message: MessageToPrimary): void {
    switch (message.kind) {
      case 'ready':
        return this.admit(worker);
      case 'failed':
        return this.startFailed(new StartupError(message.reason));
      case 'scrape':
        return void this.scrape().then((text) => this.send(worker, { kind: 'scraped', id: message.id, text }));
      case 'metrics':
        return this.collected(worker, message);
    }
  }

  private admit(worker: Worker): void {
    this.ready.add(worker);
    this.backoff.succeeded();
    this.logger.info({ worker: worker.process.pid }, 'worker serves requests');
    if (this.ready.size === this.size) this.isServing = true;
    if (!this.isServing) return;
    for (const one of this.ready) this.send(one, { kind: 'serving' });
    this.allReady();
  }

  private replace(worker: Worker, reason: string): void {
    this.workers.delete(worker);
    this.ready.delete(worker);
    for (const collection of this.collections.values()) this.complete(collection, worker);
    if (this.stopping.signal.aborted) return;
    const error = new Error(`worker ${worker.process.pid} ended with ${reason}`);
    if (!this.isServing) return this.startFailed(error);
    const { signal } = this.stopping;
    delay(this.backoff.failed(error), undefined, { signal }).then(
      () => this.fork(),
      () => undefined,
    );
  }

  /** Returns the metrics of this process and of all workers: their sums, unless a metric says otherwise. */
  private async scrape(): Promise<string> {
    const id = (this.collectionCount += 1);
    const replies: MetricsOfProcess[] = [];
    const own = register.getMetricsAsJSON();
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, COLLECT_MS);
      const finish = (): void => {
        clearTimeout(timer);
        resolve();
      };
      this.collections.set(id, { missing: new Set(this.ready), replies, finish });
      for (const worker of this.ready) this.send(worker, { kind: 'collect', id });
    });
    this.collections.delete(id);
    return AggregatorRegistry.aggregate([...replies, await own]).metrics();
  }

  private collected(worker: Worker, { id, metrics }: Extract<MessageToPrimary, { kind: 'metrics' }>): void {
    const collection = this.collections.get(id);
    if (!collection) return;
    collection.replies.push(metrics);
    this.complete(collection, worker);
  }

  private complete({ missing, finish }: Collection, worker: Worker): void {
    missing.delete(worker);
    if (missing.size === 0) finish();
  }
}
