import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Piscina } from 'piscina';
import { getErrorCode, unprocessable } from '#platform/kernel';
import { MIB } from '#storage/blob-store';
import { FairQueue } from '#workspaces/state';
import { runRedactionTask, type RedactionOutcome, type RedactionTask } from './plan-redaction.worker.js';

/** Size up to which the work takes a few milliseconds. */
const SMALL_BYTES = 64 * 1024;

/** Heap of the thread: a document of 64 MiB needs about 400 MiB. */
const HEAP_MIB = 768;

const MAX_TASK_MS = 120_000;

/** Lifetime of an idle thread, which uses some megabytes. */
const IDLE_MS = 10_000;

/** Gives the event loop priority over the thread. */
const NICE = 5;

const WORKER = new URL('./plan-redaction.worker.js', import.meta.url).href;

/** Checks and redacts documents of plans in a thread with limited memory and time. Organizations take turns. */
@Injectable()
export class PlanRedactor implements OnApplicationShutdown {
  private readonly logger = new Logger(PlanRedactor.name);
  private readonly queue = new FairQueue({
    concurrency: 1,
    waiting: 64,
    waitingOfOwner: 16,
    waitingBytes: 128 * MIB,
    items: 'plans',
  });
  private pool: Piscina<RedactionTask, RedactionOutcome> | null = null;

  async run(owner: string, task: RedactionTask): Promise<Extract<RedactionOutcome, { files: unknown }>['files']> {
    const outcome = await this.perform(owner, task);
    if ('refused' in outcome) throw unprocessable(outcome.refused);
    return outcome.files;
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool?.destroy();
  }

  private async perform(owner: string, task: RedactionTask): Promise<RedactionOutcome> {
    const bytes = task.schemas.length + (task.type === 'RedactPlan' ? task.plan.length : 0);
    if (bytes <= SMALL_BYTES && !isCompressed(task)) return runRedactionTask(task);
    try {
      return await this.queue.run(owner, bytes, () => this.runInThread(task));
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

/** Compressed documents can be much larger than they look. */
const isCompressed = (task: RedactionTask): boolean =>
  task.schemas[0] === GZIP_BYTE || (task.type === 'RedactPlan' && task.plan[0] === GZIP_BYTE);

const GZIP_BYTE = 0x1f;
