import { describe, expect, it } from '@jest/globals';
import { differences, isNothing } from './changes.js';

describe('differences', () => {
  it('are what changes, and nothing that stays', () => {
    const before = { name: 'a', email: 'b', timeout: null as number | null };
    expect(differences(before, { name: 'a', email: 'c' })).toEqual({ email: 'c' });
    expect(differences(before, { timeout: null })).toEqual({});
    expect(differences({ timeout: 5 }, { timeout: null })).toEqual({ timeout: null });
  });

  it('are found within lists and objects', () => {
    expect(differences({ list: ['a'], object: { a: 1 } }, { list: ['a'], object: { a: 2 } })).toEqual({
      object: { a: 2 },
    });
  });

  it('may be nothing at all', () => {
    expect(isNothing(differences({ name: 'a' }, { name: 'a' }))).toBe(true);
    expect(isNothing(differences({ name: 'a' }, { name: 'b' }))).toBe(false);
  });
});
