import { Backoff, type Logger } from '#platform/kernel';
import { keepLeading, pause } from '#platform/postgres';
import type { EventStore } from '../event-store.js';
import { BatchReader } from './batch-reader.js';
import type { Follower } from './follower.js';
import { joinGroup, tryFollowerLock } from './follower-group.js';
import { reportLag } from './follower-lag.js';
import { FollowerProgress } from './follower-progress.js';
import { GroupMember, MAX_BACKLOG } from './group-member.js';
import { followerMetrics } from './follower.metrics.js';
import { openSharedSession, type SharedSession } from './shared-session.js';

const STANDBY_MS = 1_000;
const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 5_000;
/** Otherwise a follower would stand still if the one before it never caught up. */
const YIELD_MAX_MS = 10_000;

export type FollowerRunnerOptions = {
  /** Goes first while it catches up, because two followers that are behind compete for the same CPU. */
  readonly yieldsTo?: FollowerRunner;
};

/**
 * Runs one follower: standby → leading alone → leading in the group of the process → standby …
 *
 * - **standby**: another process holds the follower's advisory lock. It is tried again every second.
 * - **leading alone**: reads the log from the checkpoint, passes batches to the follower, and commits the returned
 *   statements with the new checkpoint. Lock, reads and writes use one connection, so they end together and no two
 *   processes lead.
 * - **leading in the group**: the follower has caught up, and reads and commits together with the others of its process
 *   (FollowerGroup). If it falls behind, it leads alone again.
 * - Every error is counted and logged, and after a growing pause the follower starts again from the checkpoint. No event
 *   is ever skipped.
 */
export class FollowerRunner {
  private readonly stopping = new AbortController();
  private readonly backoff: Backoff;
  private loop: Promise<void> = Promise.resolve();
  /** Aborts when the follower has caught up, stands by or has failed. */
  private catchUp: AbortController | null = null;
  /** Whether this process has led since another one did. */
  private isLeader = false;

  constructor(
    private readonly store: EventStore,
    private readonly follower: Follower,
    private readonly logger: Logger,
    private readonly options: FollowerRunnerOptions = {},
  ) {
    const fields = { follower: follower.name };
    this.backoff = new Backoff({ logger, subject: 'follower', fields, firstMs: RETRY_FIRST_MS, maxMs: RETRY_MAX_MS });
  }

  start(): void {
    const endReport = reportLag(this.store.database, this.follower.name);
    this.catchUp = new AbortController();
    this.loop = keepLeading({
      openSession: () => openSharedSession(this.store.database),
      backoff: this.backoff,
      signal: this.stopping.signal,
      lead: (session) => this.lead(session),
      standbyMs: STANDBY_MS,
      countFailure: () => {
        this.endCatchUp();
        followerMetrics.failures.inc({ follower: this.follower.name });
      },
    }).finally(endReport);
  }

  /** Resolves when the current batch is finished and the lock is free. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.endCatchUp();
    await this.loop;
  }

  /** Resolves to false if another process leads, and to true if this process may lead again. */
  private async lead(session: SharedSession): Promise<boolean> {
    const { name, batch, tables } = this.follower;
    if (!(await tryFollowerLock(session, name))) {
      this.endCatchUp();
      this.isLeader = false;
      return false;
    }
    this.catchUp ??= new AbortController();
    const { writerRegistration } = this.store.database;
    if (tables.length > 0 && writerRegistration) await session.run(writerRegistration);
    const progress = await FollowerProgress.load(this.follower, session);
    // A retry changes no leader.
    this.logger[this.isLeader ? 'debug' : 'info']({ follower: name, ...progress.position }, 'follower leads');
    this.isLeader = true;
    const reader = new BatchReader(this.store, progress, session);
    while (await this.waitForTurn()) {
      const length = await reader.next();
      this.backoff.succeeded();
      if (length < Math.min(batch, MAX_BACKLOG) / 2) return this.leadInGroup(session, progress);
    }
    return true;
  }

  private async leadInGroup(session: SharedSession, progress: FollowerProgress): Promise<boolean> {
    this.endCatchUp();
    const member = new GroupMember(progress, this.stopping.signal);
    if (!(await joinGroup(this.store, member, session))) return false;
    // The group has the lock on a connection of its own, or owns this one too.
    await session.close();
    await member.ended;
    return true;
  }

  /** Resolves to false if the follower has to stop. */
  private async waitForTurn(): Promise<boolean> {
    const { signal } = this.stopping;
    const catchUp = this.options.yieldsTo?.catchUp;
    if (catchUp) await pause(YIELD_MAX_MS, AbortSignal.any([signal, catchUp.signal]));
    return !signal.aborted;
  }

  private endCatchUp(): void {
    this.catchUp?.abort();
    this.catchUp = null;
  }
}
