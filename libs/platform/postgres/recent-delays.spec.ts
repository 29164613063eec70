import { describe, expect, it } from '@jest/globals';
import { RecentDelays } from './recent-delays.js';

const recordAll = (values: readonly number[]): RecentDelays => {
  const delays = new RecentDelays();
  for (const value of values) delays.add(value);
  return delays;
};

describe('recent delays', () => {
  it('have the median 0 before the first one', () => {
    expect(new RecentDelays().computeMedian()).toBe(0);
  });

  it('have the median of all while there are few', () => {
    expect(recordAll([5, 1, 900]).computeMedian()).toBe(5);
  });

  it('forget old ones', () => {
    expect(recordAll([...Array<number>(100).fill(900), ...Array<number>(32).fill(2)]).computeMedian()).toBe(2);
  });
});
