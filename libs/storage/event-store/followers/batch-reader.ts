import type { Sql } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import { ACQUIRE_SHARED_NAMES_LOCK, RELEASE_SHARED_NAMES_LOCK } from '#storage/personal-data';
import type { EventStore } from '../event-store.js';
import type { LogPage } from '../log-reader.js';
import { toPosition } from '../log-positions.js';
import { BatchTrace } from './batch-trace.js';
import { advanceCheckpoints } from './checkpoints.js';
import { decryptFor } from './decrypt-events.js';
import { isIndependent, type Follower } from './follower.js';
import type { FollowerProgress } from './follower-progress.js';
import { followerMetrics } from './follower.metrics.js';

/**
 * Reads the log in batches for one follower that is behind, on the connection that has the follower's lock. A batch
 * without statements moves the position only; the stored checkpoint follows later.
 *
 * While a follower with effects outside its tables handles a batch, Postgres already reads the next one. Its texts of people
 * stay encrypted until the follower gets it, so that a person who is forgotten meanwhile is in no later batch.
 */
export class BatchReader {
  private readonly follower: Follower;
  private following: Promise<LogPage> | null = null;

  constructor(
    private readonly store: EventStore,
    private readonly progress: FollowerProgress,
    private readonly session: DatabaseSession,
  ) {
    this.follower = progress.follower;
  }

  /** Passes the next batch to the follower. Resolves to the number of events that it covers, also those left out by the filter. */
  next(): Promise<number> {
    return this.follower.names ? withNamesLock(this.session, () => this.follow()) : this.follow();
  }

  private async follow(): Promise<number> {
    const { progress, session, follower } = this;
    const target = { store: this.store, session, result: 'overwritten' } as const;
    const page = await (this.following ?? this.read());
    this.following = null;
    const last = page.events.at(-1);
    if (!last) return 0;
    const position = toPosition(last);
    if (isIndependent(follower) && page.length === follower.batch) this.readAhead(position);
    const trace = BatchTrace.start(follower, await decryptFor(follower, page.events, target));
    try {
      const statements = await follower.follow(trace.events, session, this.store);
      progress.position = position;
      if (progress.mustStore(statements)) await this.commit(statements);
      trace.end();
    } catch (error) {
      trace.end(error);
      throw error;
    }
    followerMetrics.events.inc({ follower: follower.name }, page.events.length);
    return page.length;
  }

  private read(after = this.progress.position): Promise<LogPage> {
    const { only, batch } = this.follower;
    return this.store.log.readPage(after, batch, (statement) => this.session.run(statement), {
      only,
      keepEncrypted: true,
    });
  }

  private readAhead(after: FollowerProgress['position']): void {
    this.following = this.read(after);
    // The next batch reports the error. If the present batch fails, nobody needs the page.
    this.following.catch(() => undefined);
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
