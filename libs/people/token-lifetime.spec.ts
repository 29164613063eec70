import { describe, expect, it } from 'vitest';
import { endOf } from './token-lifetime.js';

describe('the end of a token', () => {
  it.each([
    ['2026-11-21T12:00:00.123Z', { years: 2, days: 0 }, '2028-11-21T12:00:00.123Z'],
    ['2028-02-29T00:00:00.000Z', { years: 2, days: 0 }, '2030-03-01T00:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', { years: 0, days: 90 }, '2027-03-31T23:59:59.999Z'],
  ])('follows from its creation at %s and the lifetime', (createdAt, lifetime, end) => {
    expect(endOf(lifetime, new Date(createdAt))).toBe(end);
  });

  it('does not exist without a lifetime', () => {
    expect(endOf(null, new Date(0))).toBeNull();
  });
});
