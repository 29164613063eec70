import { describe, expect, it } from '@jest/globals';
import { checkPassword, normalizePassword } from './password-rules.js';

const owner = { username: 'ada-lovelace', email: 'countess@example.com' };
const check = (password: string) => () => checkPassword(password, owner);

describe('a password', () => {
  it.each([
    'four random words',
    'xkcd 936 is right',
    'äöüäöü ist kurz',
    '🔐🔑🗝🚪🏠🌲⛰🏔🗻🏕🌋🏜',
    'x7'.padEnd(1_000, 'ab cd efgh'),
  ])('needs no digits, capitals or signs: %s', (password) => {
    expect(check(password)).not.toThrow();
  });

  it.each([
    ['eleven char', 'at least 12 characters, got 11'],
    ['🔐'.repeat(6), 'at least 12 characters, got 6'],
    ['ab cd efgh ij'.repeat(80), 'at most 1000 characters, got 1040'],
    ['password1234', 'among the most common'],
    ['Password2026!', 'among the most common'],
    ['QWERTYUIOP12', 'among the most common'],
    ['123456789012', 'among the most common'],
    ['98273498234987', 'among the most common'],
    ['aaaaaaaaaaaa', 'among the most common'],
    ['abcabcabcabc', 'among the most common'],
    ['abcdefghijklm', 'among the most common'],
    ['my ada-lovelace 77', 'must not contain your user name'],
    ['COUNTESS of code', 'must not contain your user name'],
  ])('is refused: %s', (password, detail) => {
    expect(check(password)).toThrow(detail);
  });

  it('may contain a name of a few letters', () => {
    expect(() => checkPassword('canada is far away', { username: 'ada', email: null })).not.toThrow();
  });

  it('is the same in each encoding of its letters', () => {
    expect(normalizePassword('Zu\u0308rich')).toBe(normalizePassword('Z\u00fcrich'));
  });
});
