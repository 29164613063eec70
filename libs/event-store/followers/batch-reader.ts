import type { LogPosition, RecordedEvent, Sql } from '#kernel';
import type { DatabaseSession } from '#postgres';
import { ACQUIRE_SHARED_NAMES_LOCK, RELEASE_SHARED_NAMES_LOCK } from '#personal-data';
import type { EventStore } from '../event-store.js';
import { advanceCheckpoint, LOG_START, selectCheckpoint, type Checkpoint, type Follower } from './follower.js';
import { followerMetrics } from './follower.metrics.js';

// Applies to a log that is never quiet. Other processes see the lag only in the stored checkpoint.
const CHECKPOINT_MS = 5_000;

/**
 * Reads the log for one follower in batches, on the connection that has the follower's lock. A batch without statements
 * moves `position` only; the stored checkpoint follows later.
 */
export class BatchReader {
  private committedAt = performance.now();
  private read: LogPosition;

  private constructor(
    private readonly store: EventStore,
    private readonly follower: Follower,
    private readonly session: DatabaseSession,
    private checkpoint: LogPosition,
    /** Number of rebuilds at the start: after another one, the checkpoint cannot be stored any more. */
    private readonly rebuilds: number,
  ) {
    this.read = checkpoint;
  }

  /** Resolves to a reader that continues at the stored checkpoint, or at the start of the log. */
  static async open(store: EventStore, follower: Follower, session: DatabaseSession): Promise<BatchReader> {
    const [stored] = await session.run<Checkpoint>(selectCheckpoint(follower.name));
    const { rebuilds, ...checkpoint } = stored ?? { ...LOG_START, rebuilds: 0 };
    return new BatchReader(store, follower, session, checkpoint, rebuilds);
  }

  /** The position after the last batch. */
  get position(): LogPosition {
    return this.read;
  }

  /** Passes the next batch to the follower. Resolves to its last event, or to undefined if there are no new events. */
  next(): Promise<RecordedEvent | undefined> {
    return this.follower.names ? withNamesLock(this.session, () => this.follow()) : this.follow();
  }

  /** Stores the position as the checkpoint, unless it is stored already. */
  async flush(): Promise<void> {
    if (this.read !== this.checkpoint) await this.commit([]);
  }

  private async follow(): Promise<RecordedEvent | undefined> {
    const { name, batch, only, keepEncrypted, tables, names } = this.follower;
    const options = { only, keepEncrypted, outside: tables.length === 0 || names !== undefined };
    const events = await this.store.read(this.read, batch, (statement) => this.session.run(statement), options);
    const last = events.at(-1);
    if (!last) return undefined;
    const statements = await this.follower.follow(events, this.session, this.store);
    this.read = { transaction: last.transaction, position: last.position };
    const isDue = performance.now() - this.committedAt > CHECKPOINT_MS;
    if (!only || statements.length > 0 || isDue) await this.commit(statements);
    followerMetrics.events.inc({ follower: name }, events.length);
    return last;
  }

  private async commit(statements: readonly Sql[]): Promise<void> {
    const from = { ...this.checkpoint, rebuilds: this.rebuilds };
    await this.session.pipeline([...statements, advanceCheckpoint(this.follower.name, from, this.read)]);
    this.checkpoint = this.read;
    this.committedAt = performance.now();
  }
}

/**
 * Runs the work while no person can be forgotten: a follower may copy names from its own tables, and the names in its
 * events stay valid until it has written.
 */
const withNamesLock = async <T>(session: DatabaseSession, work: () => Promise<T>): Promise<T> => {
  await session.run(ACQUIRE_SHARED_NAMES_LOCK);
  const done = await work();
  // If it fails, the connection is closed, which releases the lock.
  await session.run(RELEASE_SHARED_NAMES_LOCK);
  return done;
};
