import { describe, expect, it } from '@jest/globals';
import { parseExactly } from './exact-json.js';

describe('parseExactly', () => {
  it.each([
    '9007199254740993',
    '[123456789012345678901234567890,{"a":-1e400}]',
    '{"a":1,"b":[0.1,null,true,"9007199254740993"]}',
  ])('keeps the numbers of %s', (text) => {
    expect(JSON.stringify(parseExactly(text))).toBe(text);
  });

  it('returns plain numbers if a double can represent them', () => {
    expect(parseExactly('{"a":[1,-2.5]}')).toEqual({ a: [1, -2.5] });
  });
});
