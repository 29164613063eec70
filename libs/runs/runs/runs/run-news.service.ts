import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { pause } from '#platform/postgres';

/** Requests that wait at once. Further ones are answered as if their time was over. */
const MAX_WAITS = 5_000;
/** Another gateway may have changed the run. */
const RECHECK_MS = 1_000;

/** Served at /metrics (docs/reference/metrics.md lists it). */
const waitingReads = new Gauge({
  name: 'cadastre_run_log_reads_waiting',
  help: 'Reads of logs of runs that wait for output',
});

/** Continues the requests of this process that wait for a change of a run. */
@Injectable()
export class RunNews implements OnModuleDestroy {
  private readonly waiting = new Map<string, Set<() => void>>();
  private readonly stopping = new AbortController();
  private count = 0;

  /** Call it after a change of the run. */
  announce(run: string): void {
    for (const wake of this.waiting.get(run) ?? []) wake();
  }

  /**
   * Calls `read` until it returns a result, and again after each change of the run. Resolves to null if the signal aborts, the
   * server stops, or too many requests wait.
   */
  async readUntilFound<T>(run: string, signal: AbortSignal, read: () => Promise<T | null>): Promise<T | null> {
    const ended = AbortSignal.any([signal, this.stopping.signal]);
    if (this.count >= MAX_WAITS) return null;
    let change = Promise.withResolvers<void>();
    const remove = this.add(run, () => change.resolve());
    try {
      while (!ended.aborted) {
        // A change during the read continues the next wait at once.
        change = Promise.withResolvers<void>();
        const result = await read();
        if (result !== null) return result;
        await waitFor(change.promise, ended);
      }
      return null;
    } finally {
      remove();
    }
  }

  onModuleDestroy(): void {
    this.stopping.abort();
  }

  /** Adds a request, and returns the function that removes it. */
  private add(run: string, wake: () => void): () => void {
    const requests = this.waiting.get(run) ?? new Set();
    this.waiting.set(run, requests.add(wake));
    this.count += 1;
    waitingReads.inc();
    return () => {
      this.count -= 1;
      waitingReads.dec();
      requests.delete(wake);
      if (requests.size === 0) this.waiting.delete(run);
    };
  }
}

/** Resolves after the change, after a while, or when the signal aborts. */
const waitFor = async (change: Promise<void>, signal: AbortSignal): Promise<void> => {
  const done = new AbortController();
  await Promise.race([change, pause(RECHECK_MS, AbortSignal.any([signal, done.signal]))]);
  done.abort();
};
