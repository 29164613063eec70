import { describe, expect, it } from '@jest/globals';
import { parseInstant, parseTime, parseTimestamp } from './timestamps.js';

const format = (milliseconds: number | undefined): string | undefined =>
  milliseconds === undefined ? undefined : new Date(milliseconds).toISOString();

describe('a time in ISO 8601', () => {
  it.each([
    ['2026-11-28', '2026-11-28T00:00:00.000Z'],
    ['2026-11-28T14Z', '2026-11-28T14:00:00.000Z'],
    ['2026-11-28T14:30Z', '2026-11-28T14:30:00.000Z'],
    ['2026-11-28T14:30', '2026-11-28T14:30:00.000Z'],
    ['2026-11-28T14:30+01:00', '2026-11-28T13:30:00.000Z'],
    ['2026-11-28T14:30:15,25Z', '2026-11-28T14:30:15.250Z'],
    ['2026-11-28t14:30:15.123456789-0130', '2026-11-28T16:00:15.123Z'],
    ['20261128', '2026-11-28T00:00:00.000Z'],
    ['20261128T1430Z', '2026-11-28T14:30:00.000Z'],
    ['20261128T143015.5Z', '2026-11-28T14:30:15.500Z'],
    ['20261128T143015.5+0100', '2026-11-28T13:30:15.500Z'],
    // An unescaped + in a query string.
    ['20261128T143015.5 01', '2026-11-28T13:30:15.500Z'],
  ])('has an extended and a basic form, to any precision: %s', (text, expected) => {
    expect(format(parseTime(text))).toBe(expected);
    expect(format(parseTimestamp(text))).toBe(expected);
  });

  it.each(['2026-11-28T14:30:15Z', '20261128T143015Z'])(
    'means the end of the second as a bound, if it has no fraction: %s',
    (text) => {
      expect(format(parseTime(text))).toBe('2026-11-28T14:30:15.000Z');
      expect(format(parseTimestamp(text))).toBe('2026-11-28T14:30:15.999Z');
    },
  );

  it.each([
    ['2026-11-28T14:30Z', '2026-11-28T14:30:00.000Z'],
    ['20261128T143015+0100', '2026-11-28T13:30:15.000Z'],
    ['2026-11-28T14:30', undefined],
    ['2026-11-28', undefined],
  ])('is a point in time if it has a zone: %s', (text, expected) => {
    expect(format(parseInstant(text))).toBe(expected);
  });

  it.each([
    '',
    'tomorrow',
    '2026',
    '2026-11',
    '2026-1128',
    '202611-28',
    '2026-02-30',
    '20261128T14:30Z',
    '2026-11-28T1430Z',
    '2026-11-28T24:00Z',
    '2026-11-28T14:60Z',
    '2026-11-28T14:30:60Z',
    '2026-11-28T14:3Z',
    '2026-11-28Z',
    '2026-11-28T14:30Zulu',
    '2026-11-28T14:30+24:00',
    '1764340215',
  ])('is nothing else: %s', (text) => {
    expect(parseTime(text)).toBeUndefined();
    expect(parseTimestamp(text)).toBeUndefined();
    expect(parseInstant(text)).toBeUndefined();
  });
});
