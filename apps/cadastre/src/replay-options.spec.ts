import { describe, expect, it } from '@jest/globals';
import { parseReplayStart, parseTopicName } from './replay-options.js';

describe('parseReplayStart', () => {
  it.each([
    ['12', { position: 12 }],
    ['2026-11-24', { time: new Date('2026-11-24T00:00:00Z') }],
    ['2026-11-24T10:30:00+01:00', { time: new Date('2026-11-24T09:30:00Z') }],
  ])('accepts %s', (text, start) => {
    expect(parseReplayStart(text)).toEqual(start);
  });

  it.each(['abc', '0', '1.5', '2026-02-30', '2026-11-24 10:30'])(
    'refuses "%s", and names a position, a date and a time',
    (text) => {
      expect(() => parseReplayStart(text)).toThrow(
        'must be a position (a whole number from 1), a date such as 2026-11-24, which begins at midnight UTC, ' +
          `or a time such as 2026-11-24T10:30:00Z, got "${text}"`,
      );
    },
  );

  it('refuses a time without an offset', () => {
    expect(() => parseReplayStart('2026-11-24T10:30')).toThrow('must be a time with Z or an offset');
  });
});

describe('parseTopicName', () => {
  it.each(['copy', 'replay.workspaces', '_own'])('accepts %s', (name) => {
    expect(parseTopicName(name)).toBe(name);
  });

  it.each(['__consumer_offsets', '.', '..', 'a b', '', 'x'.repeat(250)])('refuses "%s"', (name) => {
    expect(() => parseTopicName(name)).toThrow(`got "${name}"`);
  });
});
