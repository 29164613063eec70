import { describe, expect, it } from '@jest/globals';
import { parseTimeLimit } from './time-limit.js';

describe('parseTimeLimit', () => {
  it.each([
    ['2h', 7_200],
    ['90m', 5_400],
    ['1h30m', 5_400],
    ['1h0m15s', 3_615],
    ['60s', 60],
    ['24h', 86_400],
  ])('reads %s as %d seconds', (text, seconds) => {
    expect(parseTimeLimit(text)).toBe(seconds);
  });

  it.each(['', '2', '59s', '24h1s', '1.5h', '-2h', '2h ', '30m1h', 'h', '99999h'])('refuses %j', (text) => {
    expect(parseTimeLimit(text)).toBeNull();
  });
});
