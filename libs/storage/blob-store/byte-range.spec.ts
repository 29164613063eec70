import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { clampRange, parseRangeHeader } from './byte-range.js';

const sizes = fc.integer({ min: 0, max: 1_000 });
const positions = fc.integer({ min: 0, max: 1_200 });

describe('parseRangeHeader', () => {
  it.each([
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=0-99', { start: 0, end: 99 }],
    ['bytes=10-', { start: 10, end: 99 }],
    ['bytes=99-', { start: 99, end: 99 }],
    ['bytes=-1', { start: 99, end: 99 }],
    ['bytes=-100', { start: 0, end: 99 }],
    ['bytes=-5000', { start: 0, end: 99 }],
    ['bytes=50-5000', { start: 50, end: 99 }],
    [`bytes=50-${'9'.repeat(400)}`, { start: 50, end: 99 }],
    ['BYTES=1-2', { start: 1, end: 2 }],
    [' bytes=1-2 ', { start: 1, end: 2 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=100-200', 'unsatisfiable'],
    [`bytes=${'9'.repeat(400)}-`, 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    [undefined, null],
    ['', null],
    ['bytes', null],
    ['bytes=', null],
    ['bytes=-', null],
    ['bytes=2-1', null],
    ['bytes=a-b', null],
    ['bytes=1.5-2', null],
    ['bytes=+1-2', null],
    ['bytes=--1', null],
    ['bytes=0-1,3-4', null],
    ['bytes=0-1,', null],
    ['items=0-1', null],
    ['bytes 0-1', null],
  ])('parses %j of 100 bytes as %j', (header, range) => {
    expect(parseRangeHeader(header, 100)).toEqual(range);
  });

  it('returns no range of an empty blob', () => {
    expect(parseRangeHeader('bytes=0-', 0)).toBe('unsatisfiable');
    expect(parseRangeHeader('bytes=-5', 0)).toBeNull();
  });

  it('returns the range of the same part of the content', () => {
    fc.assert(
      fc.property(sizes, positions, positions, (size, start, length) => {
        const content = Array.from({ length: size }, (_, index) => index);
        const range = parseRangeHeader(`bytes=${start}-${start + length}`, size);
        const expected = content.slice(start, start + length + 1);
        if (range === 'unsatisfiable') return expected.length === 0;
        return range !== null && content.slice(range.start, range.end + 1).join() === expected.join();
      }),
    );
  });

  it('returns the end of the content for a suffix range', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 1_200 }), (size, count) => {
        const range = parseRangeHeader(`bytes=-${count}`, size);
        expect(range).toEqual({ start: Math.max(0, size - count), end: size - 1 });
      }),
    );
  });

  it('returns a range within the content, or none, for any header', () => {
    const texts = fc.oneof(fc.string(), fc.stringMatching(/^bytes=[-0-9, ]{0,12}$/));
    fc.assert(
      fc.property(texts, sizes, (header, size) => {
        const range = parseRangeHeader(header, size);
        if (range === null || range === 'unsatisfiable') return true;
        const { start, end } = clampRange(range, size);
        return start === range.start && end === range.end;
      }),
    );
  });
});
