import { Backoff, sql, type Logger } from '#kernel';
import { computeFollowerLockKey, keepLeading, type DatabaseSession } from '#postgres';
import type { EventStore } from '../event-store.js';
import { reportLag } from './follower-lag.js';
import { BatchReader } from './batch-reader.js';
import type { Follower } from './follower.js';
import { LISTEN } from './log-signal.js';
import { followerMetrics } from './follower.metrics.js';

const IDLE_FIRST_MS = 5;
const IDLE_MAX_MS = 1_000;
// Time between two reads of a log that grows slowly. A read costs as much CPU as a write, however few events it
// returns.
const POLL_INTERVAL_MS = 20;
const FILTERED_POLL_INTERVAL_MS = 100;
const STANDBY_MS = 1_000;
const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5_000;

/**
 * Runs one follower: standby → leading → standby …
 *
 * - **standby**: another process holds the follower's advisory lock. It is tried again every second.
 * - **leading**: reads the log from the checkpoint, passes batches to the follower, and commits the returned statements
 *   with the new checkpoint. If a batch has no statements, the new checkpoint stays in memory, and is stored when the
 *   log is quiet, or after 5 s. Lock, reads and writes use one connection, so they end together and no two processes
 *   lead. After a small batch, the next read waits for a moment, so that more events arrive together.
 * - Every error closes the connection, is counted and logged, and after a growing pause the follower starts again from
 *   the checkpoint. No event is ever skipped.
 */
export class FollowerRunner {
  private readonly stopping = new AbortController();
  private readonly backoff: Backoff;
  private woken = false;
  private endSleep: () => void = () => undefined;
  private loop: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: EventStore,
    private readonly follower: Follower,
    private readonly logger: Logger,
  ) {
    const fields = { follower: follower.name };
    this.backoff = new Backoff({ logger, subject: 'follower', fields, firstMs: RETRY_FIRST_MS, maxMs: RETRY_MAX_MS });
  }

  start(): void {
    const endReport = reportLag(this.store.database, this.follower.name);
    const wake = (): void => this.wake();
    this.loop = keepLeading({
      database: this.store.database,
      backoff: this.backoff,
      signal: this.stopping.signal,
      lead: (session) => {
        session.onNotification(wake);
        return this.lead(session);
      },
      standbyMs: STANDBY_MS,
      countFailure: () => followerMetrics.failures.inc({ follower: this.follower.name }),
      onEnd: wake,
    }).finally(endReport);
  }

  /** Resolves when the current batch is finished and the lock is free. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake();
    await this.loop;
  }

  /** Resolves to false if another process leads. */
  private async lead(session: DatabaseSession): Promise<boolean> {
    const { name, batch, only, tables } = this.follower;
    const [lock] = await session.run<{ ok: boolean }>(
      sql`select pg_try_advisory_lock(${computeFollowerLockKey(name)}) as ok`,
    );
    if (!lock?.ok) return false;
    const { writerRegistration } = this.store.database;
    if (tables.length > 0 && writerRegistration) await session.run(writerRegistration);
    await session.run(LISTEN);
    const reader = await BatchReader.open(this.store, this.follower, session);
    this.logger.info({ follower: name, ...reader.position }, 'follower leads');
    let idle = IDLE_FIRST_MS;
    while (!this.stopping.signal.aborted) {
      // The next read includes all events that woke the follower until now.
      this.woken = false;
      const { position } = reader.position;
      const last = await reader.next();
      this.backoff.succeeded();
      if (!last) {
        await reader.flush();
        // An empty result may only mean that a transaction is still running. The pauses are short at first and then
        // grow.
        idle = (await this.sleep(idle)) ? IDLE_FIRST_MS : Math.min(idle * 2, IDLE_MAX_MS);
        continue;
      }
      idle = IDLE_FIRST_MS;
      // A filtered batch may be incomplete, so the positions give the approximate number of events in the log.
      if (last.position - position < batch / 2) await this.gather(only ? FILTERED_POLL_INTERVAL_MS : POLL_INTERVAL_MS);
    }
    return true;
  }

  private wake(): void {
    this.woken = true;
    this.endSleep();
  }

  /** Waits so that more events arrive together. Only a stop ends the wait. */
  private async gather(ms: number): Promise<void> {
    if (this.stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.endSleep = () => {
        if (!this.stopping.signal.aborted) return;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Returns whether the runner was woken before the time was over, or since the last sleep. */
  private async sleep(ms: number): Promise<boolean> {
    if (!this.woken && !this.stopping.signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.endSleep = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const woken = this.woken;
    this.woken = false;
    return woken;
  }
}
