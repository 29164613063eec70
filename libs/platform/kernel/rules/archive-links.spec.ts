import { describe, expect, it } from '@jest/globals';
import { isInsideLink } from './archive-links.js';

describe('a link of an archive', () => {
  it.each([
    ['a/b/link', '../../c', true],
    ['a/b/link', '../../../c', false],
    ['link', '..', false],
    ['link', 'a/b', true],
    ['link', '/etc', false],
    // `a/b` can be a link to another folder.
    ['link', 'a/b/..', false],
    ['link', './../a', false],
    ['a/link', `${'./'.repeat(2_049)}b`, false],
  ])('%j with the target %j leads inside: %j', (path, target, expected) => {
    expect(isInsideLink(path, target)).toBe(expected);
  });
});
