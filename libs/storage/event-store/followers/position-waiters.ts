import type { LogPosition } from '#platform/kernel';
import { isAfter } from '../log-positions.js';

export const WAIT_TIMEOUT_MS = 5_000;

/** Returns the stored checkpoint of a follower; undefined if it has left the group. */
type CheckpointLookup = (follower: string) => LogPosition | undefined;

type PositionWaiter = {
  readonly follower: string;
  readonly position: LogPosition;
  readonly answer: (isStored: boolean) => void;
};

/** Readers of views that wait until a follower has stored a position. */
export class PositionWaiters {
  private readonly waiters = new Set<PositionWaiter>();

  get isEmpty(): boolean {
    return this.waiters.size === 0;
  }

  /** Resolves to true when the position is stored, and to false after 5 s or if the follower leaves the group. */
  add(follower: string, position: LogPosition): Promise<boolean> {
    return new Promise((resolve) => {
      const waiter: PositionWaiter = {
        follower,
        position,
        answer: (isStored) => {
          clearTimeout(timer);
          this.waiters.delete(waiter);
          resolve(isStored);
        },
      };
      const timer = setTimeout(() => waiter.answer(false), WAIT_TIMEOUT_MS);
      this.waiters.add(waiter);
    });
  }

  /** Returns whether somebody waits for the follower to store this position or an earlier one. */
  isAwaited(follower: string, position: LogPosition): boolean {
    return [...this.waiters].some((waiter) => waiter.follower === follower && !isAfter(waiter.position, position));
  }

  /** Answers those whose position is stored, or whose follower has left. */
  answer(getCheckpoint: CheckpointLookup): void {
    for (const waiter of this.waiters) {
      const stored = getCheckpoint(waiter.follower);
      if (!stored || !isAfter(waiter.position, stored)) waiter.answer(stored !== undefined);
    }
  }
}
