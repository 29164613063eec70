import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { getRangeLength, computePageRange, type OrdinalRange } from './ordinal-range.js';

const numbersIn = ({ from, to }: OrdinalRange): number[] => {
  const numbers = [];
  for (let n = to; n >= from; n -= 1) numbers.push(n);
  return numbers;
};

describe('a range of ordinals', () => {
  it('has a length, which is never negative', () => {
    expect([
      getRangeLength({ from: 3, to: 5 }),
      getRangeLength({ from: 3, to: 3 }),
      getRangeLength({ from: 3, to: 2 }),
    ]).toEqual([3, 1, 0]);
    expect(getRangeLength({ from: 9, to: 2 })).toBe(0);
  });

  it('is split into pages, newest first, that contain each ordinal once', () => {
    const cases = fc.tuple(fc.nat({ max: 50 }), fc.integer({ min: -5, max: 50 }), fc.integer({ min: 1, max: 12 }));
    fc.assert(
      fc.property(cases, ([first, length, size]) => {
        const range = { from: first, to: first + length - 1 };
        const count = Math.ceil(getRangeLength(range) / size);
        const pages = Array.from({ length: count + 2 }, (_, n) =>
          numbersIn(computePageRange(range, { number: n + 1, size }, 0)),
        );
        expect(pages.flat()).toEqual(numbersIn(range));
        expect(pages.slice(0, -2).every((page, n) => page.length === size || n === count - 1)).toBe(true);
      }),
    );
  });

  it('is preceded by newer entries on its first page', () => {
    const page = { number: 1, size: 3 };
    expect(numbersIn(computePageRange({ from: 2, to: 9 }, page, 2))).toEqual([11, 10, 9, 8, 7]);
    expect(numbersIn(computePageRange({ from: 8, to: 9 }, page, 1))).toEqual([10, 9, 8]);
    expect(numbersIn(computePageRange({ from: 10, to: 9 }, page, 2))).toEqual([11, 10]);
  });
});
