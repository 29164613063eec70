import { gunzipSync } from 'node:zlib';
import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Piscina } from 'piscina';
import { getErrorCode, unavailable, unprocessable } from '#platform/kernel';
import { MIB } from '#storage/blob-store';
import { FairQueue } from '#workspaces/state';
import { runRedactionTask, type RedactionOutcome, type RedactionTask } from './plan-redaction.worker.js';

/** Size of a document up to which the work takes a few milliseconds: less than the start of a thread. */
const SMALL_BYTES = 64 * 1024;

/** Memory of all uploads that are being received or wait. */
const MAX_ADMITTED_BYTES = 128 * MIB;
const RETRY_AFTER_SECONDS = 5;

/** Heap of the thread: a document of 64 MiB needs about 400 MiB. */
const HEAP_MIB = 768;

const MAX_TASK_MS = 120_000;

/** Lifetime of an idle thread, which uses some megabytes. */
const IDLE_MS = 10_000;

/** Gives the event loop priority over the thread. */
const NICE = 5;

const WORKER = new URL('./plan-redaction.worker.js', import.meta.url).href;

type RedactedFiles = Extract<RedactionOutcome, { files: unknown }>['files'];

/** Checks and redacts documents of plans in a thread with limited memory and time. Organizations take turns. */
@Injectable()
export class PlanRedactor implements OnApplicationShutdown {
  private readonly logger = new Logger(PlanRedactor.name);
  private readonly queue = new FairQueue({
    concurrency: 1,
    waiting: 64,
    waitingOfOwner: 16,
    waitingBytes: 0,
    items: 'plans',
  });
  private admittedBytes = 0;
  private pool: Piscina<RedactionTask, RedactionOutcome> | null = null;

  /**
   * Counts the memory of an upload while the work with it lasts, from before its first byte is read. Throws `unavailable` if the
   * uploads of other requests need too much.
   */
  async admit<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    if (this.admittedBytes + bytes > MAX_ADMITTED_BYTES) {
      throw unavailable('Too many plans are being uploaded. Please try again.', RETRY_AFTER_SECONDS);
    }
    this.admittedBytes += bytes;
    try {
      return await work();
    } finally {
      this.admittedBytes -= bytes;
    }
  }

  checkSchemas(owner: string, schemas: Buffer): Promise<RedactedFiles> {
    return unwrap(this.perform(owner, () => Promise.resolve({ type: 'CheckSchemas', schemas })));
  }

  /** The schemas are loaded when the turn of the plan comes, so that plans that wait do not keep them in memory. */
  redact(owner: string, plan: Buffer, loadSchemas: () => Promise<Buffer>): Promise<RedactedFiles> {
    return unwrap(this.perform(owner, async () => ({ type: 'RedactPlan', plan, schemas: await loadSchemas() })));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool?.destroy();
  }

  private async perform(owner: string, load: () => Promise<RedactionTask>): Promise<RedactionOutcome> {
    let bytes = 0;
    try {
      return await this.queue.run(owner, 0, async () => {
        const task = await load();
        const documents = task.type === 'RedactPlan' ? [task.schemas, task.plan] : [task.schemas];
        bytes = documents.reduce((total, { length }) => total + length, 0);
        return documents.every(isSmall) ? runRedactionTask(task) : this.runInThread(task);
      });
    } catch (error) {
      // Both errors end the thread. The next task starts a new one.
      const isStopped = error instanceof Error && error.name === 'AbortError';
      if (getErrorCode(error) !== 'ERR_WORKER_OUT_OF_MEMORY' && !isStopped) throw error;
      const reason = isStopped ? `not read after ${MAX_TASK_MS} ms` : `needs more than ${HEAP_MIB} MiB`;
      this.logger.warn(`a plan of ${bytes} bytes in ${owner} was refused: ${reason}`);
      throw unprocessable('The document cannot be read: it is too complex');
    }
  }

  private runInThread(task: RedactionTask): Promise<RedactionOutcome> {
    this.pool ??= new Piscina({
      filename: WORKER,
      name: 'runRedactionTask' satisfies keyof typeof import('./plan-redaction.worker.js'),
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: IDLE_MS,
      niceIncrement: NICE,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
    });
    return this.pool.run(task, { signal: AbortSignal.timeout(MAX_TASK_MS) });
  }
}

const unwrap = async (performed: Promise<RedactionOutcome> | RedactionOutcome): Promise<RedactedFiles> => {
  const outcome = await performed;
  if ('refused' in outcome) throw unprocessable(outcome.refused);
  return outcome.files;
};

/** Compressed documents can be much larger than they look. */
const isSmall = (document: Uint8Array): boolean => {
  if (document.length > SMALL_BYTES) return false;
  try {
    return document[0] !== GZIP_BYTE || gunzipSync(document, { maxOutputLength: SMALL_BYTES }).length > 0;
  } catch {
    return false;
  }
};

const GZIP_BYTE = 0x1f;
