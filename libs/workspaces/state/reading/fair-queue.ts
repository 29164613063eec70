import { Refusal, unavailable } from '#platform/kernel';

export type QueueLimits = {
  readonly concurrency: number;
  /** Maximum number of waiting work items, of all owners and of one. */
  readonly waiting: number;
  readonly waitingOfOwner: number;
  /** Maximum number of bytes that wait in memory. */
  readonly waitingBytes: number;
  /** The noun for the waiting work in refusals, in the plural. */
  readonly items: string;
};

type WaitingWork = { readonly bytes: number; readonly start: () => void };

const RETRY_AFTER_SECONDS = 5;

/**
 * Runs the oldest work of each owner in turn. However much work one owner sends, another owner waits for at most one
 * item of it.
 */
export class FairQueue {
  /** Waiting work by owner, in the order of their turns. */
  private readonly owners = new Map<string, WaitingWork[]>();
  private running = 0;
  private waiting = 0;
  private waitingBytes = 0;

  constructor(private readonly limits: QueueLimits) {}

  /** `bytes`: memory that the work uses while it waits. Throws `too-many` or `unavailable` if the queue is full. */
  async run<T>(owner: string, bytes: number, work: () => Promise<T>): Promise<T> {
    await this.turn(owner, bytes);
    try {
      return await work();
    } finally {
      this.startNext();
    }
  }

  private turn(owner: string, bytes: number): Promise<void> {
    if (this.running < this.limits.concurrency) {
      this.running += 1;
      return Promise.resolve();
    }
    this.requireCapacity(owner, bytes);
    const turn = Promise.withResolvers<void>();
    const line = this.owners.get(owner) ?? [];
    line.push({ bytes, start: turn.resolve });
    this.owners.set(owner, line);
    this.waiting += 1;
    this.waitingBytes += bytes;
    return turn.promise;
  }

  private requireCapacity(owner: string, bytes: number): void {
    const { waiting, waitingOfOwner, waitingBytes } = this.limits;
    if ((this.owners.get(owner)?.length ?? 0) >= waitingOfOwner) {
      const detail = `${waitingOfOwner} ${this.limits.items} of this organization are waiting to be read. Please try again.`;
      throw new Refusal('too-many', [{ detail }], RETRY_AFTER_SECONDS);
    }
    if (this.waiting >= waiting || this.waitingBytes + bytes > waitingBytes) {
      throw unavailable(`Too many ${this.limits.items} are waiting to be read. Please try again.`, RETRY_AFTER_SECONDS);
    }
  }

  private startNext(): void {
    const next = this.owners.entries().next().value;
    if (!next) {
      this.running -= 1;
      return;
    }
    const [owner, line] = next;
    const first = line.shift();
    this.owners.delete(owner);
    // Re-inserted at the end, so that the other owners come first.
    if (line.length > 0) this.owners.set(owner, line);
    this.waiting -= 1;
    this.waitingBytes -= first?.bytes ?? 0;
    first?.start();
  }
}
