import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fitPageSize } from './page-size.js';

it('returns the requested size if no page exceeds the limit', () => {
  expect(fitPageSize([1, 1, 1, 1, 1], 2, 2)).toBe(2);
  expect(fitPageSize([], 20, 2)).toBe(20);
});

it('returns the largest size at which no page exceeds the limit, at least one', () => {
  expect(fitPageSize([1, 1, 3, 1, 1], 5, 4)).toBe(2);
  expect(fitPageSize([9, 9], 5, 4)).toBe(1);
  fc.assert(
    fc.property(
      fc.array(fc.nat(20), { minLength: 1 }),
      fc.integer({ min: 1, max: 20 }),
      fc.nat(60),
      (lengths, requestedSize, limit) => {
        const size = fitPageSize(lengths, requestedSize, limit);
        const pages = Array.from({ length: Math.ceil(lengths.length / size) }, (_, n) =>
          lengths.slice(n * size, (n + 1) * size).reduce((sum, length) => sum + length, 0),
        );
        expect(size === 1 || pages.every((sum) => sum <= limit)).toBe(true);
      },
    ),
  );
});
