import { describe, expect, it } from '@jest/globals';
import { pickChanged, hasNoChanges } from './changes.js';

describe('pickChanged', () => {
  it('returns only the values that change', () => {
    const before = { name: 'a', email: 'b', timeout: null as number | null };
    expect(pickChanged(before, { name: 'a', email: 'c' })).toEqual({ email: 'c' });
    expect(pickChanged(before, { timeout: null })).toEqual({});
    expect(pickChanged({ timeout: 5 }, { timeout: null })).toEqual({ timeout: null });
  });

  it('compares the content of lists and objects', () => {
    expect(pickChanged({ list: ['a'], object: { a: 1 } }, { list: ['a'], object: { a: 2 } })).toEqual({
      object: { a: 2 },
    });
  });

  it('returns an empty object if nothing changes', () => {
    expect(hasNoChanges(pickChanged({ name: 'a' }, { name: 'a' }))).toBe(true);
    expect(hasNoChanges(pickChanged({ name: 'a' }, { name: 'b' }))).toBe(false);
  });
});
