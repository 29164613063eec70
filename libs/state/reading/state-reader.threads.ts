import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Piscina } from 'piscina';
import { getErrorCode, unprocessable, type Refusal } from '#kernel';
import { MIB } from '#blob-store';
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

/** Up to this size reading takes a millisecond or two: less than handing it to a thread. */
const SMALL_BYTES = 64 * 1024;

/** Larger states have a thread of their own, so that a small state never waits for a huge one. */
const LARGE_BYTES = 16 * MIB;

/**
 * Heap of one thread. Reading builds little besides what it returns, which is limited as well; bytes of files are not on
 * the heap. So only a file that was made to do harm reaches this limit.
 */
const HEAP_MIB = 256;

const MAX_TASK_MS = 120_000;

/** An idle thread keeps some megabytes. */
const IDLE_MS = 10_000;

/** The event loop has priority over the threads. */
const NICE = 5;

const QUEUE: QueueLimits = { concurrency: 1, waiting: 256, waitingOfOwner: 32, waitingBytes: 256 * MIB };

const WORKER = new URL('./state-reader.worker.js', import.meta.url).href;

/** One thread, started when it is needed, and the queue in front of it. */
class ReaderThread {
  private readonly queue = new FairQueue(QUEUE);
  private pool: Piscina<ReaderTask, ReaderOutcome<unknown>> | null = null;

  /** `held`: bytes that the task keeps in memory while it waits. */
  run<T>(owner: string, held: number, work: (perform: (task: ReaderTask) => Promise<T>) => Promise<T>): Promise<T> {
    return this.queue.run(owner, held, () => work((task) => this.perform<T>(task)));
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
 * Reads states beside the event loop: in threads with limited memory and time, in turns of the organizations that they
 * belong to. Small states are read at once.
 */
@Injectable()
export class StateReaders implements OnApplicationShutdown {
  private readonly logger = new Logger(StateReaders.name);
  private readonly small = new ReaderThread();
  private readonly large = new ReaderThread();

  /** Takes the bytes of the body: they are gone afterwards. `limit`: bytes of one file in it. */
  readCreation(owner: string, body: Uint8Array, limit: number): Promise<ParsedCreateRequest> {
    if (body.length <= SMALL_BYTES) return Promise.resolve().then(() => parseCreateRequest(body, limit));
    return this.read(owner, body.length, body.length, (perform) => perform({ type: 'ReadCreation', body, limit }));
  }

  /**
   * `size` says how many bytes `load` will return; null where they are gone. They are loaded when it is their turn, so
   * that no queue keeps them in memory.
   */
  readState(owner: string, size: number, load: () => Promise<Uint8Array | null>): Promise<ParsedState | null> {
    return this.readFile(owner, size, load, parseState, (bytes) => ({ type: 'ReadState', bytes }));
  }

  /** The same with another serial in the bytes. */
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
    held: number,
    work: (perform: (task: ReaderTask) => Promise<T>) => Promise<T>,
  ): Promise<T> {
    const lane = size > LARGE_BYTES ? this.large : this.small;
    try {
      return await lane.run(owner, held, work);
    } catch (error) {
      // Both end the thread; the next task gets a new one.
      const isStopped = error instanceof Error && error.name === 'AbortError';
      if (getErrorCode(error) !== 'ERR_WORKER_OUT_OF_MEMORY' && !isStopped) throw error;
      const reason = isStopped ? `not read after ${MAX_TASK_MS} ms` : `needs more than ${HEAP_MIB} MiB`;
      this.logger.warn(`a state of ${size} bytes in ${owner} was refused: ${reason}`);
      throw createTooComplexRefusal();
    }
  }
}
