import { Backoff, sql, type Logger, type LogPosition, type RecordedEvent, type Sql } from '#kernel';
import { computeFollowerLockKey, keepLeading, type DatabaseSession } from '#postgres';
import type { EventStore } from '../event-store.js';
import { reportLag } from './follower-lag.js';
import { advanceCheckpoint, LOG_START, selectCheckpoint, type Checkpoint, type Follower } from './follower.js';
import { LISTEN } from './log-signal.js';
import { followerMetrics } from './follower.metrics.js';
import { ACQUIRE_SHARED_NAMES_LOCK, RELEASE_SHARED_NAMES_LOCK } from '#personal-data';

const IDLE_FIRST_MS = 5;
const IDLE_MAX_MS = 1_000;
// Between two looks at a log that grows slowly: a look costs as much CPU as a write, however little it finds.
const POLL_INTERVAL_MS = 20;
const FILTERED_POLL_INTERVAL_MS = 100;
// In a log that never rests. The stored checkpoint is what other processes see of the lag.
const CHECKPOINT_MS = 5_000;
const STANDBY_MS = 1_000;
const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5_000;

/**
 * Keeps one follower going: standby → leading → standby …
 *
 * - **standby**: somebody else holds the follower's advisory lock; asked again every second.
 * - **leading**: reads the log from the checkpoint, hands batches over, commits what comes back with the new checkpoint.
 *   If a batch produces no writes, the new checkpoint stays in memory. It is stored when the log is quiet, or after 5 s.
 *   Lock, reads and writes use one connection: when it goes, all of them go, and nobody leads twice.
 *   Where a look has found little, the next one waits for a moment: more come together then.
 * - Any error closes the connection, is counted and logged, and after a growing pause everything starts over from the
 *   checkpoint. An event is never skipped.
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

  /** Resolves when the batch in hand is finished and the lock is free for the next. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake();
    await this.loop;
  }

  /** False where somebody else leads. */
  private async lead(session: DatabaseSession): Promise<boolean> {
    const { name, batch, only, keepEncrypted, tables, names } = this.follower;
    const options = { only, keepEncrypted, outside: tables.length === 0 || names !== undefined };
    const [taken] = await session.run<{ ok: boolean }>(
      sql`select pg_try_advisory_lock(${computeFollowerLockKey(name)}) as ok`,
    );
    if (!taken?.ok) return false;
    const { writerRegistration } = this.store.database;
    if (tables.length > 0 && writerRegistration) await session.run(writerRegistration);
    await session.run(LISTEN);
    const [stored] = await session.run<Checkpoint>(selectCheckpoint(name));
    const { rebuilds, ...start } = stored ?? { ...LOG_START, rebuilds: 0 };
    let checkpoint: LogPosition = start;
    let read = checkpoint;
    let committedAt = performance.now();
    const commit = async (statements: readonly Sql[]): Promise<void> => {
      await session.pipeline([...statements, advanceCheckpoint(name, { ...checkpoint, rebuilds }, read)]);
      checkpoint = read;
      committedAt = performance.now();
    };
    const next = async (): Promise<RecordedEvent | undefined> => {
      const events = await this.store.read(read, batch, (statement) => session.run(statement), options);
      const last = events.at(-1);
      if (!last) return undefined;
      const statements = await this.follower.follow(events, session, this.store);
      read = { transaction: last.transaction, position: last.position };
      const isDue = performance.now() - committedAt > CHECKPOINT_MS;
      if (!only || statements.length > 0 || isDue) await commit(statements);
      followerMetrics.events.inc({ follower: name }, events.length);
      return last;
    };
    this.logger.info({ follower: name, ...checkpoint }, 'follower leads');
    let idle = IDLE_FIRST_MS;
    while (!this.stopping.signal.aborted) {
      // Whatever has woken it until now, this look finds.
      this.woken = false;
      const { position } = read;
      const last = await (names ? withNamesLock(session, next) : next());
      this.backoff.succeeded();
      if (!last) {
        if (read !== checkpoint) await commit([]);
        // An empty answer may only mean that a transaction still runs somewhere: look again soon, then ever later.
        idle = (await this.sleep(idle)) ? IDLE_FIRST_MS : Math.min(idle * 2, IDLE_MAX_MS);
        continue;
      }
      idle = IDLE_FIRST_MS;
      // Not all of a batch may have been handed over: how much there was, positions tell, nearly.
      if (last.position - position < batch / 2) await this.gather(only ? FILTERED_POLL_INTERVAL_MS : POLL_INTERVAL_MS);
    }
    return true;
  }

  private wake(): void {
    this.woken = true;
    this.endSleep();
  }

  /** Lets more come together, whatever wakes it, unless it is to stop. */
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

  /** True where something woke it before the time was over, or since it last slept. */
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

/** What of its own tables it reads and carries on, and whom it opens events with, stays so until it has written. */
const withNamesLock = async <T>(session: DatabaseSession, work: () => Promise<T>): Promise<T> => {
  await session.run(ACQUIRE_SHARED_NAMES_LOCK);
  const done = await work();
  // Where it fails, the connection is closed, and holds nothing any more.
  await session.run(RELEASE_SHARED_NAMES_LOCK);
  return done;
};
