import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '#platform/kernel';
import { authenticationFailures } from '../access.metrics.js';

export type AuthenticationFailure = 'missing' | 'unknown' | 'expired';

const LOG_EVERY_MS = 10_000;

/** Counts refused authentications, and logs them at most every ten seconds. */
@Injectable()
export class AuthenticationFailureLog {
  private readonly logger = new Logger('Authentication');
  private loggedAt = Number.NEGATIVE_INFINITY;
  private sinceLastLine = 0;

  constructor(private readonly clock: Clock) {}

  record(reason: AuthenticationFailure, address: string): void {
    authenticationFailures.inc({ reason });
    this.sinceLastLine += 1;
    const now = this.clock.now().getTime();
    if (now - this.loggedAt < LOG_EVERY_MS) return;
    this.logger.warn('Authentication refused', { reason, address, refusedSinceLastLine: this.sinceLastLine });
    this.loggedAt = now;
    this.sinceLastLine = 0;
  }
}
