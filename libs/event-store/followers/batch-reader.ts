import type { RecordedEvent, Sql } from '#kernel';
import type { DatabaseSession } from '#postgres';
import { ACQUIRE_SHARED_NAMES_LOCK, RELEASE_SHARED_NAMES_LOCK } from '#personal-data';
import type { EventStore } from '../event-store.js';
import { toPosition } from '../log-positions.js';
import { BatchTrace } from './batch-trace.js';
import { advanceCheckpoints } from './checkpoints.js';
import { isReadOutside } from './follower.js';
import type { FollowerProgress } from './follower-progress.js';
import { followerMetrics } from './follower.metrics.js';

/**
 * Reads the log in batches for one follower that is behind, on the connection that has the follower's lock. A batch
 * without statements moves the position only; the stored checkpoint follows later.
 */
export class BatchReader {
  constructor(
    private readonly store: EventStore,
    private readonly progress: FollowerProgress,
    private readonly session: DatabaseSession,
  ) {}

  /** Passes the next batch to the follower. Resolves to its last event, or to undefined if there are no new events. */
  next(): Promise<RecordedEvent | undefined> {
    return this.progress.follower.names ? withNamesLock(this.session, () => this.follow()) : this.follow();
  }

  private async follow(): Promise<RecordedEvent | undefined> {
    const { progress, session } = this;
    const { follower } = progress;
    const { name, batch, only, keepEncrypted } = follower;
    const options = { only, keepEncrypted, outside: isReadOutside(follower) };
    const events = await this.store.read(progress.position, batch, (statement) => session.run(statement), options);
    const last = events.at(-1);
    if (!last) return undefined;
    const trace = BatchTrace.start(follower, events);
    try {
      const statements = await follower.follow(trace.events, session, this.store);
      progress.position = toPosition(last);
      if (progress.mustStore(statements)) await this.commit(statements);
      trace.end();
    } catch (error) {
      trace.end(error);
      throw error;
    }
    followerMetrics.events.inc({ follower: name }, events.length);
    return last;
  }

  private async commit(statements: readonly Sql[]): Promise<void> {
    const { position } = this.progress;
    await this.session.pipeline([...statements, advanceCheckpoints([this.progress.moveTo(position)])]);
    this.progress.recordStored(position);
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
