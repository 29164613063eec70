import { describe, expect, it } from '@jest/globals';
import { checkTtl, computeExpiry } from './token-lifetime.js';

describe('the expiry time of a token', () => {
  it.each([
    ['2026-11-21T12:00:00.123Z', { years: 2, days: 0 }, '2028-11-21T12:00:00.123Z'],
    ['2028-02-29T00:00:00.000Z', { years: 2, days: 0 }, '2030-03-01T00:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', { years: 0, days: 90 }, '2027-03-31T23:59:59.999Z'],
  ])('is its creation at %s plus the lifetime', (createdAt, lifetime, end) => {
    expect(computeExpiry(lifetime, new Date(createdAt))).toBe(end);
  });

  it('is null without a lifetime', () => {
    expect(computeExpiry(null, new Date(0))).toBeNull();
  });

  it.each([
    [null, 3_600_000, '1970-01-01T01:00:00.000Z'],
    [{ years: 0, days: 1 }, 3_600_000, '1970-01-01T01:00:00.000Z'],
    [{ years: 0, days: 1 }, 7 * 86_400_000, '1970-01-02T00:00:00.000Z'],
  ])('is the earlier of the lifetime %j and the limit of %i ms', (lifetime, maxTtlMs, end) => {
    expect(computeExpiry(lifetime, new Date(0), maxTtlMs)).toBe(end);
  });
});

describe('the limit of a token’s lifetime', () => {
  const check = (end: string | null, maxTtlMs: number | null) => () => checkTtl(end, maxTtlMs, new Date(0));

  it('accepts expiry times up to the limit, and a missing limit or expiry time', () => {
    expect(check('1970-01-01T01:00:00.000Z', 3_600_000)).not.toThrow();
    expect(check('9999-01-01T00:00:00.000Z', null)).not.toThrow();
    expect(check(null, 3_600_000)).not.toThrow();
  });

  it('refuses a later expiry time, and names the latest accepted one', () => {
    expect(check('1970-01-01T01:00:00.001Z', 3_600_000)).toThrow(
      'Expired at must be 1970-01-01T01:00:00.000Z or earlier: the organization limits such tokens to 3600000 ms',
    );
  });
});
