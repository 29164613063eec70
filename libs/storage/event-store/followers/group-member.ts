import type { LogPosition, RecordedEvent } from '#platform/kernel';
import { isAfter } from '../log-positions.js';
import type { FollowerBatch } from './batch-handler.js';
import { isIndependent } from './follower.js';
import type { FollowerProgress } from './follower-progress.js';

/** Most events that an independent follower may have before it. Beyond that it reads for itself. */
export const MAX_BACKLOG = 1_000;

/** A follower in the group of its process. */
export class GroupMember {
  readonly name: string;
  readonly isIndependent: boolean;
  /** The position up to which events were passed to the member. */
  passed: LogPosition;
  /** Events that an independent member has not handled yet. */
  backlog = 0;
  /** The work of an independent member, in order. Never rejects. */
  work: Promise<void> = Promise.resolve();
  /** Set if the follower continues alone, and joins again when it has caught up. */
  departs = false;
  /** Batches that an independent member has not begun to handle. */
  private queue: readonly FollowerBatch[] = [];
  private readonly only: ReadonlySet<string> | null;
  private readonly slow: ReadonlySet<string>;
  private readonly ending = Promise.withResolvers<void>();

  constructor(
    readonly progress: FollowerProgress,
    /** Aborts when the follower has to stop. */
    readonly signal: AbortSignal,
  ) {
    const { follower, position } = progress;
    this.name = follower.name;
    this.isIndependent = isIndependent(follower);
    this.passed = position;
    this.only = follower.only ? new Set(follower.only) : null;
    this.slow = new Set(follower.slow);
    // The runner may not wait for the end yet.
    this.ended.catch(() => undefined);
  }

  get follower(): FollowerProgress['follower'] {
    return this.progress.follower;
  }

  /** Resolves when the follower has left the group, and its lock is free. Rejects if it failed. */
  get ended(): Promise<void> {
    return this.ending.promise;
  }

  get isLeaving(): boolean {
    return this.departs || this.signal.aborted;
  }

  get isBehind(): boolean {
    return this.backlog >= MAX_BACKLOG;
  }

  /** Returns whether the member has handled everything that was passed to it. */
  get isIdle(): boolean {
    return this.progress.position === this.passed;
  }

  /** Returns the events that are new to the member. */
  select(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
    const start = events.findIndex((event) => isAfter(event, this.passed));
    if (start < 0) return [];
    const { only } = this;
    const unread = start === 0 ? events : events.slice(start);
    return only ? unread.filter(({ type }) => only.has(type)) : unread;
  }

  /**
   * Adds a batch to the work of an independent member. Batches that wait are handled as one, because a batch takes some
   * milliseconds however few events it has. `handle` must not reject.
   */
  enqueue(batch: FollowerBatch, handle: (batch: FollowerBatch) => Promise<void>): void {
    this.backlog += batch.events.length;
    this.queue = [...this.queue, batch];
    this.work = this.work.then(() => this.handleNext(handle));
  }

  private async handleNext(handle: (batch: FollowerBatch) => Promise<void>): Promise<void> {
    const next = this.dequeue();
    if (!next) return;
    await handle(next);
    this.backlog -= next.events.length;
  }

  /** Removes the batches that have waited longest, and returns them as one batch of the follower's size. */
  private dequeue(): FollowerBatch | undefined {
    const [first, ...others] = this.queue;
    if (!first) return undefined;
    let { length } = first.events;
    const rest = others.findIndex(({ events }) => (length += events.length) > this.follower.batch);
    const joined = [first, ...(rest < 0 ? others : others.slice(0, rest))];
    this.queue = this.queue.slice(joined.length);
    const { end } = joined.at(-1) ?? first;
    return { ...first, events: joined.flatMap(({ events }) => events), end };
  }

  needsTimeFor(events: readonly RecordedEvent[]): boolean {
    return this.slow.size > 0 && events.some(({ type }) => this.slow.has(type));
  }

  end(error: unknown): void {
    if (error === undefined) this.ending.resolve();
    else this.ending.reject(error);
  }
}
