import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { Refusal } from '#platform/kernel';
import { parseTrailTimestamp } from './trail-timestamp.js';

const parsed = (text: string): string => new Date(parseTrailTimestamp('since', text)).toISOString();

describe('parsing a timestamp', () => {
  it.each([
    ['a date', '2026-11-21', '2026-11-21T00:00:00.000Z'],
    ['milliseconds', '2026-11-21T10:41:51.120Z', '2026-11-21T10:41:51.120Z'],
    ['no zone', '2026-11-21T10:41:51.120', '2026-11-21T10:41:51.120Z'],
    ['seconds, for the end of that second', '2026-11-21T10:41:51Z', '2026-11-21T10:41:51.999Z'],
    ['seconds without a zone', '2026-11-21T10:41:51', '2026-11-21T10:41:51.999Z'],
    ['seconds with a fraction of nothing', '2026-11-21T10:41:51.0Z', '2026-11-21T10:41:51.000Z'],
    ['microseconds, of which entries have none', '2026-11-21T10:41:51.120999', '2026-11-21T10:41:51.120Z'],
    ['nanoseconds', '2026-11-21T10:41:51.120999999Z', '2026-11-21T10:41:51.120Z'],
    ['an offset', '2026-11-21T12:41:51.120+02:00', '2026-11-21T10:41:51.120Z'],
    ['an offset west', '2026-11-21T05:11:51.120-05:30', '2026-11-21T10:41:51.120Z'],
    ['an offset whose + came as a space', '2026-11-21T12:41:51.120 02:00', '2026-11-21T10:41:51.120Z'],
    ['an offset without a colon', '2026-11-21T12:41:51.120+0200', '2026-11-21T10:41:51.120Z'],
    ['an offset over midnight', '2026-12-31T23:30:00.000-01:00', '2027-01-01T00:30:00.000Z'],
    ['a time in minutes', '2026-11-21T10:41Z', '2026-11-21T10:41:00.000Z'],
    ['the basic form', '20261121T104151.120Z', '2026-11-21T10:41:51.120Z'],
    ['a space for the T', '2026-11-21 10:41:51.120', '2026-11-21T10:41:51.120Z'],
    ['a leap day', '2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['the first century', '0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000Z'],
  ])('accepts %s', (_, text, expected) => {
    expect(parsed(text)).toBe(expected);
  });

  it.each([
    'yesterday',
    '1763721711',
    '2026-11',
    '2026-11-21T',
    '2026-11-21T1041Z',
    '2026-02-30',
    '2026-13-01',
    '2026-11-21T24:00:00Z',
    '2026-11-21T10:60:00Z',
    '2026-11-21T10:41:60Z',
    '2026-11-21T10:41:51.Z',
    '2026-11-21T10:41:51.120+24:00',
    '2026-11-21T10:41:51.120Z; drop table events',
    ' 2026-11-21',
    '2026-11-21Z',
    '\u0000',
  ])('refuses %j', (text) => {
    expect(() => parseTrailTimestamp('since', text)).toThrow(Refusal);
    expect(() => parseTrailTimestamp('since', text)).toThrow('Since is not a valid ISO 8601 timestamp');
    expect(() => parseTrailTimestamp('until', text)).toThrow('Until is not a valid ISO 8601 timestamp');
  });

  it("returns the exact time of an entry's timestamp", () => {
    const timestamps = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true });
    fc.assert(fc.property(timestamps, (date) => parseTrailTimestamp('since', date.toISOString()) === date.getTime()));
  });

  it('returns a time or throws a refusal for any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          return Number.isInteger(parseTrailTimestamp('since', text));
        } catch (error) {
          return error instanceof Refusal && error.kind === 'unprocessable';
        }
      }),
    );
  });
});
