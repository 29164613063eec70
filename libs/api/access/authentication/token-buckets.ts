import { LRUCache } from 'lru-cache';
import type { Clock } from '#platform/kernel';

type BucketSize = {
  /** Requests that a full bucket allows at once. */
  readonly capacity: number;
  /** How long an empty bucket takes to fill, in milliseconds. */
  readonly refillMs: number;
};

export type Allowance = {
  readonly isAllowed: boolean;
  /** Further requests that the bucket allows at once. */
  readonly remaining: number;
  /** Milliseconds until the next request is allowed; 0 if it is allowed now. */
  readonly retryInMs: number;
};

type Bucket = { readonly used: number; readonly at: number };

const MAX_KEYS = 20_000;

/**
 * Token buckets in memory, one for each key. Each bucket has `capacity` tokens and refills evenly.
 *
 * Memory is bounded: beyond `maxKeys`, the least recently used bucket is dropped. A dropped bucket counts as full.
 */
export class TokenBuckets {
  private readonly buckets: LRUCache<string, Bucket>;

  constructor(
    private readonly size: BucketSize,
    private readonly clock: Clock,
    maxKeys = MAX_KEYS,
  ) {
    this.buckets = new LRUCache({ max: maxKeys });
  }

  /** Takes a token if one is left. A refused attempt takes no token. */
  take(key: string): Allowance {
    const now = this.clock.now().getTime();
    const used = this.usedAt(key, now) + 1;
    if (used > this.size.capacity) return this.allowanceFor(used - 1);
    this.buckets.set(key, { used, at: now });
    return { ...this.allowanceFor(used), isAllowed: true };
  }

  /** Returns the result that `take` would return, without taking a token. */
  peek(key: string): Allowance {
    return this.allowanceFor(this.usedAt(key, this.clock.now().getTime()));
  }

  private usedAt(key: string, now: number): number {
    const bucket = this.buckets.peek(key);
    if (!bucket) return 0;
    // Refills nothing if the system clock is set back.
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
