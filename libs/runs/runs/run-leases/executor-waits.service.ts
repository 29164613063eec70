import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Backoff } from '#platform/kernel';
import { EventStore, LogWatch, type RoundResult } from '#storage/event-store';
import type { DatabaseSession } from '#platform/postgres';
import { selectEndedWaits, type ExecutorWait } from '../runs/run-leases.queries.js';

/** Requests that wait at once. Those above it get their answers without waiting. */
const MAX_WAITS = 1_000;
const RETRY = { firstMs: 100, maxMs: 5_000 };

/**
 * The requests of executors that wait in this process. One statement each time the log grows serves all of them. The connection
 * for it is open from the first such request on.
 */
@Injectable()
export class ExecutorWaits implements OnModuleDestroy {
  private readonly waits = new Map<ExecutorWait, () => void>();
  private readonly stopping = new AbortController();
  private watch: LogWatch | null = null;

  constructor(private readonly store: EventStore) {}

  /** Resolves to whether the wait is over; to false if the signal aborts, the server stops, or too many others wait. */
  async wait(wait: ExecutorWait, signal: AbortSignal): Promise<boolean> {
    const ended = AbortSignal.any([signal, this.stopping.signal]);
    if (ended.aborted || this.waits.size >= MAX_WAITS) return false;
    this.watch ??= this.startWatch();
    try {
      return await new Promise<boolean>((resolve) => {
        this.waits.set(wait, () => resolve(true));
        ended.addEventListener('abort', () => resolve(false), { once: true });
      });
    } finally {
      this.waits.delete(wait);
    }
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.watch?.stop();
  }

  private startWatch(): LogWatch {
    const logger = new Logger(ExecutorWaits.name);
    const watch = new LogWatch(this.store, {
      round: (session) => this.round(session),
      backoff: new Backoff({
        logger: {
          info: (fields: object, text: string) => logger.log({ ...fields, message: text }),
          warn: (fields: object, text: string) => logger.warn({ ...fields, message: text }),
        },
        subject: 'looking for runs for executors',
        ...RETRY,
      }),
    });
    watch.start();
    return watch;
  }

  private async round(session: DatabaseSession): Promise<RoundResult> {
    const waits = [...this.waits];
    if (waits.length === 0) return 'none';
    const ended = await session.run<{ readonly wait: number }>(selectEndedWaits(waits.map(([wait]) => wait)));
    for (const { wait } of ended) waits[wait]?.[1]();
    return ended.length > 0 ? 'few' : 'none';
  }
}
