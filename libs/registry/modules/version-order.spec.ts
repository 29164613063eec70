import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compare, prerelease } from 'semver';
import { isPreRelease, toSortableVersion } from './version-order.js';

const number = fc.oneof(fc.nat({ max: 30 }), fc.maxSafeInteger().map(Math.abs)).map(String);
const word = fc.stringMatching(/^[0-9A-Za-z-]{0,3}[A-Za-z-][0-9A-Za-z-]{0,3}$/);
const identifiers = fc.array(fc.oneof(number, word), { maxLength: 3 });
const version = fc
  .tuple(number, number, number, identifiers)
  .map(([major, minor, patch, parts]) => `${major}.${minor}.${patch}${parts.length > 0 ? `-${parts.join('.')}` : ''}`);

const compareBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

describe('a version as a text', () => {
  it('has the order of semantic versions', () => {
    fc.assert(
      fc.property(version, version, (one, other) => {
        expect(Math.sign(compareBytes(toSortableVersion(one), toSortableVersion(other)))).toBe(compare(one, other));
        expect(isPreRelease(one)).toBe(prerelease(one) !== null);
      }),
    );
  });

  it('ignores the build metadata', () => {
    expect(toSortableVersion('1.2.3-a.1+x-1')).toBe(toSortableVersion('1.2.3-a.1'));
    expect(isPreRelease('1.2.3+x-1')).toBe(false);
  });
});
