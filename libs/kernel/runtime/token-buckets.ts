import type { Clock } from './ports.js';

export type BucketSize = {
  /** How many may be taken at once. */
  readonly capacity: number;
  /** How long an empty bucket takes to fill, in milliseconds. */
  readonly refillMs: number;
};

export type Allowance = {
  readonly isAllowed: boolean;
  /** How many more may be taken at once. */
  readonly remaining: number;
  /** Milliseconds until the next one may be taken; 0 if it may be taken now. */
  readonly retryInMs: number;
};

type Bucket = { readonly used: number; readonly at: number };

const MAX_KEYS = 20_000;

/**
 * Token buckets in memory, one for each key: each holds `capacity` and refills evenly.
 *
 * Memory is bounded: beyond `maxKeys`, the bucket that was used least recently is dropped, which counts as full again.
 */
export class TokenBuckets {
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    private readonly size: BucketSize,
    private readonly clock: Clock,
    private readonly maxKeys = MAX_KEYS,
  ) {}

  /** Takes one if there is one. A refused attempt takes nothing. */
  take(key: string): Allowance {
    const now = this.clock.now().getTime();
    const used = this.usedAt(key, now) + 1;
    if (used > this.size.capacity) return this.allowanceFor(used - 1);
    this.buckets.delete(key);
    this.buckets.set(key, { used, at: now });
    const [leastRecent] = this.buckets.keys();
    if (leastRecent !== undefined && this.buckets.size > this.maxKeys) this.buckets.delete(leastRecent);
    return { ...this.allowanceFor(used), isAllowed: true };
  }

  /** Returns what `take` would return, and takes nothing. */
  peek(key: string): Allowance {
    return this.allowanceFor(this.usedAt(key, this.clock.now().getTime()));
  }

  private usedAt(key: string, now: number): number {
    const bucket = this.buckets.get(key);
    if (!bucket) return 0;
    // A clock that is set back refills nothing.
    const elapsed = Math.max(0, now - bucket.at);
    return Math.max(0, bucket.used - (elapsed * this.size.capacity) / this.size.refillMs);
  }

  private allowanceFor(used: number): Allowance {
    const { capacity, refillMs } = this.size;
    const missing = used + 1 - capacity;
    return {
      isAllowed: missing <= 0,
      remaining: Math.max(0, Math.floor(capacity - used)),
      retryInMs: missing <= 0 ? 0 : Math.ceil((missing * refillMs) / capacity),
    };
  }
}
