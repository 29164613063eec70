import { Logger } from '@nestjs/common';
import { RateLimitRefusal, type Clock, type Refusal } from '#platform/kernel';
import { countRateLimited, TokenBuckets } from '#api/access';
import { countExchange } from './exchange.metrics.js';
import { OauthRefusal } from '#api/json-api';

const MINUTE_MS = 60_000;
const LOG_EVERY_MS = 10_000;

/**
 * Limits the failed exchanges of each address, counts them, and logs one in ten seconds. They have the limit of wrong
 * tokens, and a count of their own: a pipeline with a mistake must not lock out the tokens of others at its address.
 */
export class FailedExchanges {
  private readonly logger = new Logger('TokenExchange');
  private readonly buckets: TokenBuckets | null;
  private loggedAt = Number.NEGATIVE_INFINITY;
  private sinceLastLine = 0;

  /** `perMinute`: failed exchanges for each address; null for no limit. */
  constructor(
    private readonly clock: Clock,
    private readonly perMinute: number | null,
  ) {
    this.buckets = perMinute === null ? null : new TokenBuckets({ capacity: perMinute, refillMs: MINUTE_MS }, clock);
  }

  /** Throws `too-many` if the address has had too many failures. */
  admit(address: string): void {
    const allowance = this.buckets?.peek(address);
    if (!allowance || allowance.isAllowed || this.perMinute === null) return;
    countRateLimited('wrong_token');
    countExchange('limited');
    throw new RateLimitRefusal(
      `Too many failed exchanges from this address: at most ${this.perMinute} per minute are accepted (CADASTRE_WRONG_TOKEN_LIMIT).`,
      { perSecond: this.perMinute / 60, retryInMs: allowance.retryInMs },
    );
  }

  /** Records a failure. The log line contains no token. */
  record(refusal: Refusal, address: string): void {
    countExchange(refusal.kind === 'bad-request' ? 'refused' : 'unavailable');
    this.buckets?.take(address);
    this.sinceLastLine += 1;
    const now = this.clock.now().getTime();
    if (now - this.loggedAt < LOG_EVERY_MS) return;
    const error = refusal instanceof OauthRefusal ? refusal.error : refusal.kind;
    const { message: description } = refusal;
    const refusedSinceLastLine = this.sinceLastLine;
    this.logger.warn('Token exchange refused', { error, description, address, refusedSinceLastLine });
    this.loggedAt = now;
    this.sinceLastLine = 0;
  }
}
