import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { computeTextFingerprint } from './text-fingerprint.js';

const key = randomBytes(32);
const of = (text: string, purpose = 'a purpose', from = key): string => computeTextFingerprint(from, purpose, text);

describe('the fingerprint of a text', () => {
  it('is the same for the same text, key and purpose, and different for any other', () => {
    expect(of('ada')).toMatch(/^[\w-]{16}$/);
    expect(of('ada')).toBe(of('ada'));
    const others = [of('bob'), of('ada', 'another purpose'), of('ada', 'a purpose', randomBytes(32))];
    expect(new Set([of('ada'), ...others]).size).toBe(4);
  });
});
