import type { LogPosition, Sql } from '#platform/kernel';
import type { DatabaseSession } from '#platform/postgres';
import { LOG_START } from '../log-positions.js';
import { selectCheckpoint, type Checkpoint, type CheckpointMove } from './checkpoints.js';
import type { Follower } from './follower.js';

// Applies to a log that is never quiet. Other processes see the lag only in the stored checkpoint.
const CHECKPOINT_MS = 5_000;

/** How far a follower has read, and its stored checkpoint. Batches without statements move `position` only. */
export class FollowerProgress {
  position: LogPosition;
  private checkpoint: LogPosition;
  private storedAt = performance.now();

  private constructor(
    readonly follower: Follower,
    stored: LogPosition,
    /** Number of rebuilds at the start: after another one, the checkpoint cannot be stored any more. */
    private readonly rebuilds: number,
  ) {
    this.position = stored;
    this.checkpoint = stored;
  }

  /** Continues at the stored checkpoint, or at the start of the log. */
  static async load(follower: Follower, session: DatabaseSession): Promise<FollowerProgress> {
    const [stored] = await session.run<Checkpoint>(selectCheckpoint(follower.name));
    const { rebuilds, ...checkpoint } = stored ?? { ...LOG_START, rebuilds: 0 };
    return new FollowerProgress(follower, checkpoint, rebuilds);
  }

  get stored(): LogPosition {
    return this.checkpoint;
  }

  get isStored(): boolean {
    return this.position === this.checkpoint;
  }

  /** Returns whether the checkpoint has been behind for too long. */
  get isDue(): boolean {
    return !this.isStored && performance.now() - this.storedAt > CHECKPOINT_MS;
  }

  /** Returns whether the checkpoint must be stored with these statements of a batch. */
  mustStore(statements: readonly Sql[]): boolean {
    return !this.follower.only || statements.length > 0 || performance.now() - this.storedAt > CHECKPOINT_MS;
  }

  moveTo(position: LogPosition): CheckpointMove {
    return { follower: this.follower.name, from: { ...this.checkpoint, rebuilds: this.rebuilds }, to: position };
  }

  /** Records that the position has been stored. */
  recordStored(position: LogPosition): void {
    this.position = position;
    this.checkpoint = position;
    this.storedAt = performance.now();
  }
}
