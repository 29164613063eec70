import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Piscina } from 'piscina';
import { getErrorCode, unprocessable, type Refusal } from '#platform/kernel';
import { MIB } from '#storage/blob-store';
import { FairQueue, type QueueLimits } from './fair-queue.js';
import type { ReaderTask } from './state-reader.worker.js';
import {
  parseCreateRequest,
  parseState,
  renumberState,
  unwrapOutcome,
  type ParsedCreateRequest,
  type ReaderOutcome,
  type RenumberedState,
  type ParsedState,
} from './state.parser.js';

/** Size up to which reading takes a millisecond or two, less than the transfer to a thread. */
const SMALL_BYTES = 64 * 1024;

/** Size above which states use a separate thread, so that small states never wait for huge ones. */
const LARGE_BYTES = 16 * MIB;

/**
 * Heap of one thread. Reading builds little besides its result, which is limited too, and bytes of files are outside
 * the heap. So only malicious files reach this limit.
 */
const HEAP_MIB = 256;

const MAX_TASK_MS = 120_000;

/** Lifetime of an idle thread, which uses some megabytes. */
const IDLE_MS = 10_000;

/** Gives the event loop priority over the threads. */
const NICE = 5;

const QUEUE: QueueLimits = {
  concurrency: 1,
  waiting: 256,
  waitingOfOwner: 32,
  waitingBytes: 256 * MIB,
  items: 'states',
};

const WORKER = new URL('./state-reader.worker.js', import.meta.url).href;

/** A thread that is started on first use, and its queue. */
class ReaderThread {
  private readonly queue = new FairQueue(QUEUE);
  private pool: Piscina<ReaderTask, ReaderOutcome<unknown>> | null = null;

  /** `waitingBytes`: memory that the task uses while it waits. */
  run<T>(
    owner: string,
    waitingBytes: number,
    work: (perform: (task: ReaderTask) => Promise<T>) => Promise<T>,
  ): Promise<T> {
    return this.queue.run(owner, waitingBytes, () => work((task) => this.perform<T>(task)));
  }

  async stop(): Promise<void> {
    await this.pool?.destroy();
  }

  private async perform<T>(task: ReaderTask): Promise<T> {
    this.pool ??= new Piscina({
      filename: WORKER,
      name: 'runReaderTask' satisfies keyof typeof import('./state-reader.worker.js'),
      minThreads: 0,
      maxThreads: QUEUE.concurrency,
      idleTimeout: IDLE_MS,
      niceIncrement: NICE,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    const bytes = task.type === 'ReadCreation' ? task.body : task.bytes;
    const run = { transferList: [bytes.buffer as ArrayBuffer], signal: AbortSignal.timeout(MAX_TASK_MS) };
    return unwrapOutcome((await this.pool.run(task, run)) as ReaderOutcome<T>);
  }
}

const createTooComplexRefusal = (): Refusal => unprocessable('The state file cannot be read: it is too complex');

/**
 * Reads states outside the event loop: in threads with limited memory and time, and organizations take turns. Small
 * states are read immediately.
 */
@Injectable()
export class StateReaders implements OnApplicationShutdown {
  private readonly logger = new Logger(StateReaders.name);
  private readonly small = new ReaderThread();
  private readonly large = new ReaderThread();

  /**
   * Transfers the body to the thread, so the caller's buffer is empty afterwards. `limit`: maximum bytes of one file in
   * the body.
   */
  readCreation(owner: string, body: Uint8Array, limit: number): Promise<ParsedCreateRequest> {
    if (body.length <= SMALL_BYTES) return Promise.resolve().then(() => parseCreateRequest(body, limit));
    return this.read(owner, body.length, body.length, (perform) => perform({ type: 'ReadCreation', body, limit }));
  }

  /**
   * `size`: number of bytes that `load` returns; it returns null if the file no longer exists. Files are loaded when
   * their turn comes, so that waiting work uses no memory.
   */
  readState(owner: string, size: number, load: () => Promise<Uint8Array | null>): Promise<ParsedState | null> {
    return this.readFile(owner, size, load, parseState, (bytes) => ({ type: 'ReadState', bytes }));
  }

  renumber(
    owner: string,
    size: number,
    load: () => Promise<Uint8Array | null>,
    serial: number,
  ): Promise<RenumberedState | null> {
    const here = (bytes: Uint8Array): RenumberedState => renumberState(bytes, serial);
    return this.readFile(owner, size, load, here, (bytes) => ({ type: 'Renumber', bytes, serial }));
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.small.stop(), this.large.stop()]);
  }

  private async readFile<T>(
    owner: string,
    size: number,
    load: () => Promise<Uint8Array | null>,
    here: (bytes: Uint8Array) => T,
    taskOf: (bytes: Uint8Array) => ReaderTask,
  ): Promise<T | null> {
    if (size <= SMALL_BYTES) {
      const bytes = await load();
      return bytes && here(bytes);
    }
    return this.read<T | null>(owner, size, 0, async (perform) => {
      const bytes = await load();
      return bytes && perform(taskOf(bytes));
    });
  }

  private async read<T>(
    owner: string,
    size: number,
    waitingBytes: number,
    work: (perform: (task: ReaderTask) => Promise<T>) => Promise<T>,
  ): Promise<T> {
    const thread = size > LARGE_BYTES ? this.large : this.small;
    try {
      return await thread.run(owner, waitingBytes, work);
    } catch (error) {
      // Both errors end the thread. The next task starts a new one.
      const isStopped = error instanceof Error && error.name === 'AbortError';
      if (getErrorCode(error) !== 'ERR_WORKER_OUT_OF_MEMORY' && !isStopped) throw error;
      const reason = isStopped ? `not read after ${MAX_TASK_MS} ms` : `needs more than ${HEAP_MIB} MiB`;
      this.logger.warn(`a state of ${size} bytes in ${owner} was refused: ${reason}`);
      throw createTooComplexRefusal();
    }
  }
}
