import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Backoff } from '#platform/kernel';
import { EventStore, LogWatch, type RoundResult } from '#storage/event-store';
import { pause, type DatabaseSession } from '#platform/postgres';
import { changeWaiting } from './run-leases.metrics.js';
import { selectEndedWaits, SiteRunLimit, type ExecutorWait } from '../runs/run-leases.queries.js';

/** Requests that wait for a run or the end of a lease at once. Others wait for the time that they have chosen. */
const MAX_WAITS = 5_000;
/** Time between two rounds while the log grows. */
const GATHER_MS = 100;
const RETRY = { firstMs: 100, maxMs: 5_000 };

/** Equal waits. The function of the first one that waits is first. */
type WaitGroup = { readonly wait: ExecutorWait; readonly ends: Set<() => void> };

/**
 * The requests of executors that wait in this process. One statement each time the log grows serves all of them. It ends as many
 * requests of a pool as the pool has runs. The connection for it is open from the first request on.
 */
@Injectable()
export class ExecutorWaits implements OnModuleDestroy {
  private readonly groups = new Map<string, WaitGroup>();
  private readonly stopping = new AbortController();
  private watch: LogWatch | null = null;
  private count = 0;
  private lastRound = 0;

  constructor(
    private readonly store: EventStore,
    private readonly limit: SiteRunLimit,
  ) {}

  /** Resolves to whether the wait is over; to false if the signal aborts or the server stops. */
  async wait(wait: ExecutorWait, signal: AbortSignal): Promise<boolean> {
    const ended = AbortSignal.any([signal, this.stopping.signal]);
    if (ended.aborted) return false;
    this.watch ??= this.startWatch();
    let remove = (): void => undefined;
    this.count += 1;
    changeWaiting(1);
    try {
      return await new Promise<boolean>((resolve) => {
        ended.addEventListener('abort', () => resolve(false), { once: true });
        if (this.count <= MAX_WAITS) remove = this.add(wait, () => resolve(true));
      });
    } finally {
      this.count -= 1;
      changeWaiting(-1);
      remove();
    }
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.watch?.stop();
  }

  /** Adds a wait, and returns the function that removes it. */
  private add(wait: ExecutorWait, end: () => void): () => void {
    const key = JSON.stringify(wait);
    const group = this.groups.get(key) ?? { wait, ends: new Set() };
    this.groups.set(key, group);
    group.ends.add(end);
    return () => {
      group.ends.delete(end);
      if (group.ends.size === 0 && this.groups.get(key) === group) this.groups.delete(key);
    };
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
    await pause(Math.max(0, this.lastRound + GATHER_MS - performance.now()), this.stopping.signal);
    this.lastRound = performance.now();
    const groups = [...this.groups.values()];
    if (groups.length === 0) return 'none';
    const grouped = groups.map(({ wait, ends }) => ({ wait, count: ends.size }));
    const rows = await session.run<{ readonly group: number; readonly ended: number }>(
      selectEndedWaits(grouped, this.limit),
    );
    for (const { group, ended } of rows) {
      for (const end of [...(groups[group]?.ends ?? [])].slice(0, ended)) end();
    }
    return rows.length > 0 ? 'few' : 'none';
  }
}
