import { Inject, Injectable, Optional } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock, RateLimitRefusal } from '#platform/kernel';
import { TokenBuckets, type Allowance } from './token-buckets.js';
import { countRateLimited } from '../access.metrics.js';

/** Injection token of the limit; null or no provider for no limit. */
export const INVALID_TOKENS_PER_MINUTE = 'cadastre:wrong-tokens-per-minute';

const MINUTE_MS = 60_000;
const MAX_CACHED_TOKENS = 20_000;
const CACHE_LIFETIME_MS = 10_000;

/**
 * Limits the work that wrong tokens cause: an unknown token is looked up once in ten seconds, and each address may send
 * a number of them per minute.
 *
 * A new token works at once on every gateway: its secret is random, so nobody can have sent it before. Only a secret
 * that an operator has chosen (CADASTRE_ADMIN_TOKEN) may be refused for ten seconds after it was added, if a client
 * sent it too early.
 */
@Injectable()
export class InvalidTokenLimiter {
  /** Times of the last lookups of unknown tokens by hash. */
  private readonly lookedUpAt = new LRUCache<string, number>({ max: MAX_CACHED_TOKENS });
  /**
   * Two limits for each address. `sent` counts every request with a wrong token. `lookups` counts only tokens that were
   * looked up, so that a client that repeats one wrong token does not lock out valid tokens from the same address that
   * are new to this gateway.
   */
  private readonly sent: TokenBuckets | null;
  private readonly lookups: TokenBuckets | null;

  constructor(
    private readonly clock: Clock,
    @Optional() @Inject(INVALID_TOKENS_PER_MINUTE) private readonly perMinute: number | null = null,
  ) {
    const bucketsOrNull = (): TokenBuckets | null =>
      perMinute === null ? null : new TokenBuckets({ capacity: perMinute, refillMs: MINUTE_MS }, clock);
    this.sent = bucketsOrNull();
    this.lookups = bucketsOrNull();
  }

  /**
   * Decides about a token that this process does not know: `wrong` if it was looked up in the last ten seconds,
   * otherwise `look-up`. Throws `too-many` if the address has exceeded its limit.
   */
  admit(hash: Buffer, address: string): 'wrong' | 'look-up' {
    if (this.isRemembered(hash.toString('base64'))) {
      this.refuseBeyond(this.sent?.take(address));
      return 'wrong';
    }
    this.refuseBeyond(this.lookups?.peek(address));
    return 'look-up';
  }

  /** Records that a lookup found no token. */
  record(hash: Buffer, address: string): void {
    this.lookedUpAt.set(hash.toString('base64'), this.clock.now().getTime());
    this.sent?.take(address);
    this.lookups?.take(address);
  }

  private isRemembered(key: string): boolean {
    const at = this.lookedUpAt.peek(key);
    return at !== undefined && Math.abs(this.clock.now().getTime() - at) < CACHE_LIFETIME_MS;
  }

  private refuseBeyond(allowance: Allowance | undefined): void {
    if (!allowance || allowance.isAllowed || this.perMinute === null) return;
    countRateLimited('wrong_token');
    throw new RateLimitRefusal(
      `Too many requests with a wrong token from this address: at most ${this.perMinute} per minute are accepted ` +
        '(CADASTRE_WRONG_TOKEN_LIMIT). Check the token.',
      { perSecond: this.perMinute / 60, retryInMs: allowance.retryInMs },
    );
  }
}
