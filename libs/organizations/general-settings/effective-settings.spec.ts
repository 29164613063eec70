import { describe, expect, it } from '@jest/globals';
import { getTokenRateLimit } from './effective-settings.js';

const limitOf = (
  [isEnabled, limit]: readonly [boolean | null, number | null],
  rateLimit: number | null,
  workers = 1,
): number | null =>
  getTokenRateLimit({ apiRateLimitingEnabled: isEnabled, apiRateLimit: limit }, { rateLimit, workers });

describe('the rate limit of a token', () => {
  it('is that of the server until an administrator changes it', () => {
    expect(limitOf([null, null], 100)).toBe(100);
    expect(limitOf([null, null], null)).toBeNull();
    expect(limitOf([null, 60], 100)).toBe(60);
    expect(limitOf([null, 60], null)).toBeNull();
    expect(limitOf([true, null], null)).toBe(30);
    expect(limitOf([false, 60], 100)).toBeNull();
  });

  it('is divided among the workers of a gateway, but not below what go-tfe needs', () => {
    expect(limitOf([true, 50], null, 4)).toBe(13);
    expect(limitOf([true, 30], null, 20)).toBe(4);
    expect(limitOf([null, null], 4, 2)).toBe(4);
  });
});
