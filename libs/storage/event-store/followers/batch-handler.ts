import type { LogPosition, RecordedEvent, Sql } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import { ACQUIRE_SHARED_NAMES_LOCK, RELEASE_SHARED_NAMES_LOCK } from '#storage/personal-data';
import type { EventStore } from '../event-store.js';
import { advanceCheckpoints } from './checkpoints.js';
import { decryptFor } from './decrypt-events.js';
import type { FollowerProgress } from './follower-progress.js';
import { BatchTrace } from './batch-trace.js';
import { followerMetrics } from './follower.metrics.js';

/** Events for one follower, and the position of the log after them. */
export type FollowerBatch = {
  readonly progress: FollowerProgress;
  readonly events: readonly RecordedEvent[];
  readonly end: LogPosition;
};

export type FollowerFailure = { readonly progress: FollowerProgress; readonly error: unknown };

type HandledBatch = FollowerBatch & { readonly statements: readonly Sql[] };

/** Passes events to followers and commits the statements that they return. The events are encrypted and shared by all followers. */
export class BatchHandler {
  constructor(
    private readonly store: EventStore,
    private readonly session: DatabaseSession,
    /** Returns whether a reader waits for the checkpoint of this batch. */
    private readonly isAwaited: (batch: FollowerBatch) => boolean,
  ) {}

  /**
   * Commits the work of all followers and their checkpoints in one transaction. If that fails, each batch is passed
   * again and committed alone, so that a broken follower stops no other. Resolves to the followers that failed. The
   * positions of idle followers are stored if something is committed and that succeeds.
   */
  async handle(
    batches: readonly FollowerBatch[],
    idle: readonly FollowerProgress[] = [],
  ): Promise<readonly FollowerFailure[]> {
    const [batch] = batches;
    if (!batch) return [];
    try {
      return await this.handleTogether(batches, idle);
    } catch (error) {
      if (batches.length === 1) return [{ progress: batch.progress, error }];
    }
    const failures: FollowerFailure[] = [];
    for (const one of batches) failures.push(...(await this.handle([one])));
    return failures;
  }

  /** Stores the positions of followers that had nothing to write. Resolves to the followers that failed. */
  async storePositions(all: readonly FollowerProgress[]): Promise<readonly FollowerFailure[]> {
    const [progress] = all;
    if (!progress) return [];
    const positions = all.map((one) => [one, one.position] as const);
    try {
      await this.session.pipeline([advanceCheckpoints(positions.map(([one, position]) => one.moveTo(position)))]);
      for (const [one, position] of positions) one.recordStored(position);
      return [];
    } catch (error) {
      if (all.length === 1) return [{ progress, error }];
    }
    const failures: FollowerFailure[] = [];
    for (const one of all) failures.push(...(await this.storePositions([one])));
    return failures;
  }

  /**
   * No person is forgotten while a follower with names works: it may copy names from its own tables, and the names in
   * its events stay valid until it has written.
   */
  private async handleTogether(
    batches: readonly FollowerBatch[],
    idle: readonly FollowerProgress[],
  ): Promise<readonly FollowerFailure[]> {
    if (!batches.some(({ progress }) => progress.follower.names)) return this.followAndCommit(batches, idle);
    const lock = this.session.run(ACQUIRE_SHARED_NAMES_LOCK);
    try {
      // The connection runs its statements in order, so followers read after the lock.
      const [failures] = await Promise.all([this.followAndCommit(batches, idle), lock]);
      return failures;
    } finally {
      // It runs after the commit. Nobody waits for it; if the connection is broken, the next statement reports that.
      this.session.run(RELEASE_SHARED_NAMES_LOCK).catch(() => undefined);
    }
  }

  private async followAndCommit(
    batches: readonly FollowerBatch[],
    idle: readonly FollowerProgress[],
  ): Promise<readonly FollowerFailure[]> {
    const failures: FollowerFailure[] = [];
    const traces = batches.map(({ progress, events }) => BatchTrace.start(progress.follower, events));
    const follow = async (batch: FollowerBatch, n: number): Promise<readonly HandledBatch[]> => {
      const trace = traces[n] as BatchTrace;
      try {
        return [{ ...batch, statements: await this.follow({ ...batch, events: trace.events }) }];
      } catch (error) {
        failures.push({ progress: batch.progress, error });
        trace.end(error);
        return [];
      }
    };
    try {
      await this.commit((await Promise.all(batches.map(follow))).flat(), idle);
      for (const trace of traces) trace.end();
    } catch (error) {
      for (const trace of traces) trace.end(error);
      throw error;
    }
    return failures;
  }

  private async follow({ progress: { follower }, events }: FollowerBatch): Promise<readonly Sql[]> {
    const { store, session } = this;
    return follower.follow(await decryptFor(follower, events, { store, session, result: 'copies' }), session, store);
  }

  private async commit(handled: readonly HandledBatch[], idle: readonly FollowerProgress[]): Promise<void> {
    const stored = handled.filter((batch) => batch.progress.mustStore(batch.statements) || this.isAwaited(batch));
    const positions = stored.length === 0 ? [] : idle.map((progress) => ({ progress, end: progress.position }));
    if (stored.length > 0) {
      const moves = [...stored, ...positions].map(({ progress, end }) => progress.moveTo(end));
      const statements = stored.flatMap((batch) => batch.statements);
      await this.session.pipeline([...statements, advanceCheckpoints(moves)]);
    }
    for (const { progress, end, events } of handled) {
      progress.position = end;
      followerMetrics.events.inc({ follower: progress.follower.name }, events.length);
    }
    for (const { progress, end } of [...stored, ...positions]) progress.recordStored(end);
  }
}
