import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Database, pause } from '#platform/postgres';
import { listRunMarks } from './run-changes.queries.js';

/** Requests that wait at once. Further ones are answered as if their time was over. */
const MAX_WAITS = 5_000;
/** Requests with the links of one caller that wait at once. */
export const MAX_WAITS_OF_RECIPIENT = 50;
/** Another gateway may have changed the run. */
const RECHECK_MS = 2_500;

/** Served at /metrics (docs/reference/metrics.md lists it). */
const waitingReads = new Gauge({
  name: 'cadastre_run_log_reads_waiting',
  help: 'Reads of logs of runs that wait for output',
});

/** `mark`: of the run, as the last check found it; null for a deleted run, and undefined before the first check. */
type WaitingLogRead = { mark: string | null | undefined; readonly repeat: () => void };

/** `recipient`: the caller that the link was made for. */
type RunReader = { readonly run: string; readonly recipient: string };

/** Continues the requests of this process that wait for a change of a run. One statement checks the runs of all requests. */
@Injectable()
export class RunChanges implements OnModuleDestroy {
  private readonly logger = new Logger(RunChanges.name);
  private readonly waiting = new Map<string, Set<WaitingLogRead>>();
  private readonly waitsOfRecipients = new Map<string, number>();
  private readonly stopping = new AbortController();
  private count = 0;
  private isRechecking = false;
  private rechecks = Promise.resolve();

  constructor(private readonly database: Database) {}

  /** Call it after a change of the run. */
  continueReads(run: string): void {
    for (const { repeat } of this.waiting.get(run) ?? []) repeat();
  }

  /**
   * Calls `read` until it returns a result, and again after each change of the run. Resolves to null if the signal aborts, the
   * server stops, or too many requests wait.
   */
  async readUntilFound<T>(reader: RunReader, signal: AbortSignal, read: () => Promise<T | null>): Promise<T | null> {
    const ended = AbortSignal.any([signal, this.stopping.signal]);
    const waitsOfRecipient = this.waitsOfRecipients.get(reader.recipient) ?? 0;
    if (this.count >= MAX_WAITS || waitsOfRecipient >= MAX_WAITS_OF_RECIPIENT) return null;
    let change = Promise.withResolvers<void>();
    const repeat = (): void => change.resolve();
    ended.addEventListener('abort', repeat, { once: true });
    const remove = this.add(reader, { mark: undefined, repeat });
    try {
      while (!ended.aborted) {
        // A change during the read repeats it at once.
        change = Promise.withResolvers<void>();
        const result = await read();
        if (result !== null) return result;
        await change.promise;
      }
      return null;
    } finally {
      remove();
    }
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.rechecks;
  }

  /** Adds a read, and returns the function that removes it. */
  private add({ run, recipient }: RunReader, read: WaitingLogRead): () => void {
    const reads = this.waiting.get(run) ?? new Set();
    this.waiting.set(run, reads.add(read));
    this.changeCount(recipient, 1);
    if (!this.isRechecking) this.rechecks = this.recheck();
    return () => {
      this.changeCount(recipient, -1);
      reads.delete(read);
      if (reads.size === 0) this.waiting.delete(run);
    };
  }

  private changeCount(recipient: string, difference: 1 | -1): void {
    this.count += difference;
    waitingReads.inc(difference);
    const waits = (this.waitsOfRecipients.get(recipient) ?? 0) + difference;
    if (waits === 0) this.waitsOfRecipients.delete(recipient);
    else this.waitsOfRecipients.set(recipient, waits);
  }

  private async recheck(): Promise<void> {
    this.isRechecking = true;
    while (this.waiting.size > 0) {
      await pause(RECHECK_MS, this.stopping.signal);
      if (this.stopping.signal.aborted) break;
      const runs = [...this.waiting.keys()];
      try {
        const marks = await listRunMarks(this.database, runs);
        for (const run of runs) this.compareMarks(run, marks.get(run) ?? null);
      } catch (error) {
        this.logger.warn({ err: error, message: 'Changes of runs not checked' });
      }
    }
    this.isRechecking = false;
  }

  private compareMarks(run: string, mark: string | null): void {
    for (const read of this.waiting.get(run) ?? []) {
      if (read.mark === mark) continue;
      // The first check repeats the read too, because the run may have changed between both.
      read.mark = mark;
      read.repeat();
    }
  }
}
