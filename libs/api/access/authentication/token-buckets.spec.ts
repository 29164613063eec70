import { describe, expect, it } from '@jest/globals';
import { FixedClock } from '../../../../test/support/clocks.js';
import { TokenBuckets } from './token-buckets.js';

const take = (buckets: TokenBuckets, key: string, times: number): boolean[] =>
  Array.from({ length: times }, () => buckets.take(key).isAllowed);

describe('TokenBuckets', () => {
  it('allows a full bucket at once and refuses the next one', () => {
    const buckets = new TokenBuckets({ capacity: 3, refillMs: 3_000 }, new FixedClock());
    expect(take(buckets, 'a', 4)).toEqual([true, true, true, false]);
  });

  it('returns how many tokens are left and how long the next one takes', () => {
    const clock = new FixedClock();
    const buckets = new TokenBuckets({ capacity: 2, refillMs: 2_000 }, clock);
    expect(buckets.take('a')).toEqual({ isAllowed: true, remaining: 1, retryInMs: 0 });
    expect(buckets.take('a')).toMatchObject({ isAllowed: true, remaining: 0 });
    clock.pass({ ms: 250 });
    expect(buckets.take('a')).toEqual({ isAllowed: false, remaining: 0, retryInMs: 750 });
  });

  it('refills evenly, up to its capacity', () => {
    const clock = new FixedClock();
    const buckets = new TokenBuckets({ capacity: 4, refillMs: 1_000 }, clock);
    take(buckets, 'a', 4);
    clock.pass({ ms: 500 });
    expect(take(buckets, 'a', 3)).toEqual([true, true, false]);
    clock.pass({ minutes: 1 });
    expect(take(buckets, 'a', 5)).toEqual([true, true, true, true, false]);
  });

  it('takes no token for an attempt that it refuses', () => {
    const clock = new FixedClock();
    const buckets = new TokenBuckets({ capacity: 1, refillMs: 1_000 }, clock);
    take(buckets, 'a', 10);
    clock.pass({ seconds: 1 });
    expect(buckets.take('a').isAllowed).toBe(true);
  });

  it('takes no token when it peeks', () => {
    const buckets = new TokenBuckets({ capacity: 1, refillMs: 1_000 }, new FixedClock());
    expect([buckets.peek('a').isAllowed, buckets.peek('a').isAllowed]).toEqual([true, true]);
    buckets.take('a');
    expect(buckets.peek('a')).toEqual({ isAllowed: false, remaining: 0, retryInMs: 1_000 });
  });

  it('refills nothing when the clock is set back', () => {
    const clock = new FixedClock();
    const buckets = new TokenBuckets({ capacity: 1, refillMs: 1_000 }, clock);
    buckets.take('a');
    clock.pass({ minutes: -5 });
    expect(buckets.take('a').isAllowed).toBe(false);
  });

  it('counts each key separately', () => {
    const buckets = new TokenBuckets({ capacity: 1, refillMs: 1_000 }, new FixedClock());
    expect([buckets.take('a').isAllowed, buckets.take('b').isAllowed]).toEqual([true, true]);
  });

  it('drops the least recently used bucket if there are too many', () => {
    const buckets = new TokenBuckets({ capacity: 1, refillMs: 1_000 }, new FixedClock(), 2);
    for (const key of ['a', 'b', 'c']) buckets.take(key);
    expect(['c', 'b', 'a'].map((key) => buckets.peek(key).isAllowed)).toEqual([false, false, true]);
  });
});
