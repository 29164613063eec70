import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compilePattern, isBelow } from './path-patterns.js';

describe('a pattern', () => {
  it.each([
    ['main.tf', 'main.tf', true],
    ['/main.tf', 'main.tf', true],
    ['*.tf', 'main.tf', true],
    ['*.tf', 'a/main.tf', false],
    ['**/*.tf', 'main.tf', true],
    ['**/*.tf', 'a/b/main.tf', true],
    ['a/**', 'a/b/c', true],
    ['a/**/c', 'a/c', true],
    ['a/**/c', 'a/b/b/c', true],
    ['a/**/c', 'b/a/c', false],
    ['/a/*/c.tf', 'a/b/c.tf', true],
    ['???.tf', 'abc.tf', true],
    ['???.tf', 'ab.tf', false],
    ['*', '.hidden', true],
    ['**/.github/*', '.github/x.yml', true],
    ['a.tf', 'axtf', false],
    ['[ab].tf', 'a.tf', false],
    ['?', '🙂', true],
    ['', 'a', false],
  ])('%j matches the path %j: %j', (pattern, path, expected) => {
    expect(compilePattern(pattern)(path)).toBe(expected);
  });

  it('takes an effort that no pattern can blow up', () => {
    const pattern = `${'**/'.repeat(150)}${'*a'.repeat(100)}`;
    expect(compilePattern(pattern)(`${'a/'.repeat(1_000)}${'a'.repeat(300)}b`)).toBe(false);
  });

  it('without wildcards matches its own path only', () => {
    const path = fc
      .array(fc.stringMatching(/^[a-z.]{1,5}$/), { minLength: 1, maxLength: 4 })
      .map((names) => names.join('/'));
    fc.assert(
      fc.property(path, path, (one, other) => {
        expect(compilePattern(one)(other)).toBe(one === other);
        expect(compilePattern('**')(one)).toBe(true);
      }),
    );
  });
});

describe('a folder', () => {
  it.each([
    ['', 'main.tf', true],
    ['.', 'main.tf', true],
    ['/', 'main.tf', true],
    ['a', 'a/main.tf', true],
    ['./a/', 'a/main.tf', true],
    ['a', 'ab/main.tf', false],
    ['a/b', 'a/main.tf', false],
    ['a', 'a', true],
  ])('%j contains the path %j: %j', (folder, path, expected) => {
    expect(isBelow(folder, path)).toBe(expected);
  });
});
