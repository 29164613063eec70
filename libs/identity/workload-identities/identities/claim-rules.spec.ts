import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { checkClaimRules, findMismatches, matchesPattern, type ClaimRules } from './claim-rules.js';

/** Texts of few characters, so that patterns and values often match. */
const anyText = fc.string({ unit: fc.constantFrom('a', 'b', ':', '/'), maxLength: 8 });
const anyPattern = fc.string({ unit: fc.constantFrom('a', 'b', ':', '*'), maxLength: 8 });

/** The meaning of a pattern, as a regular expression. */
const toExpression = (pattern: string): RegExp =>
  new RegExp(`^${pattern.replaceAll(/[.\\/]/g, String.raw`\$&`).replaceAll('*', '[^]*')}$`);

describe('a pattern', () => {
  it('matches only itself if it has no wildcard', () => {
    fc.assert(
      fc.property(anyText, anyText, (pattern, value) => matchesPattern(pattern, value) === (pattern === value)),
    );
  });

  it('matches like the regular expression with its meaning', () => {
    fc.assert(
      fc.property(anyPattern, anyText, (pattern, value) => {
        expect(matchesPattern(pattern, value)).toBe(toExpression(pattern).test(value));
      }),
      { numRuns: 5_000 },
    );
  });

  it('matches what results if each wildcard is replaced with a text', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), fc.infiniteStream(fc.string()), (fixed, replacements) => {
        const parts = fixed.map((part) => part.replaceAll('*', ''));
        const value = parts.reduce((text, part) => `${text}${replacements.next().value as string}${part}`);
        expect(matchesPattern(parts.join('*'), value)).toBe(true);
      }),
    );
  });

  it.each([
    ['repo:acme/*', 'repo:acme/app:ref:refs/heads/main', true],
    ['repo:acme/*', 'repo:acme-evil/app:ref:refs/heads/main', false],
    ['repo:acme/app:*', 'repo:acme/app-evil:ref:refs/heads/main', false],
    ['repo:acme/*:ref:refs/heads/main', 'repo:acme/app:ref:refs/heads/main', true],
    ['repo:acme/*:ref:refs/heads/main', 'repo:acme/app:ref:refs/heads/main2', false],
    ['refs/heads/release-*', 'refs/heads/release-', true],
    ['refs/heads/main', 'Refs/heads/main', false],
    ['refs.heads', 'refs/heads', false],
    ['a*a', 'a', false],
  ])('%s and %s: %p', (pattern, value, isMatch) => {
    expect(matchesPattern(pattern, value)).toBe(isMatch);
  });
});

describe('claims', () => {
  const rules = { sub: ['repo:acme/*'], ref: ['refs/heads/main', 'refs/tags/v*'] };

  it('match if each of them has one of its accepted values', () => {
    expect(findMismatches(rules, { sub: 'repo:acme/app', ref: 'refs/tags/v1', other: 1 })).toEqual([]);
    expect(findMismatches(rules, { sub: 'repo:acme/app', ref: 'refs/heads/dev' })).toEqual(['ref']);
    expect(findMismatches(rules, { ref: 'refs/heads/main' })).toEqual(['sub']);
    expect(findMismatches(rules, {})).toEqual(['sub', 'ref']);
  });

  it.each([
    ['true', true, true],
    ['true', 'true', true],
    ['42', 42, true],
    ['a', ['b', 'a'], true],
    ['a', ['b'], false],
    ['a', [], false],
    ['a', [['a']], false],
    ['*', null, false],
    ['*', undefined, false],
    ['*', { a: 'a' }, false],
    ['1.5', 1.5, false],
    // JSON.parse rounds such numbers, so another number could match.
    ['9007199254740992', JSON.parse('9007199254740993'), false],
  ])('with the accepted value %s and the value %j: %p', (accepted, value, isMatch) => {
    expect(findMismatches({ claim: [accepted] }, { claim: value })).toEqual(isMatch ? [] : ['claim']);
  });

  it('do not match with members that every object has', () => {
    expect(findMismatches({ constructor: ['*'], toString: ['*'] }, {})).toEqual(['constructor', 'toString']);
  });
});

describe('the rules for claims', () => {
  it.each<ClaimRules>([
    { sub: ['repo:acme/app:ref:refs/heads/main'] },
    { sub: ['repo:acme/*', 'repo:other/app:*'] },
    { sub: ['auth0|123'] },
    { sub: ['project_path:acme/tools/app:ref_type:branch:ref:*'] },
    { sub: ['system:serviceaccount:prod:*'] },
    { repository: ['acme/*'], ref: ['*'] },
    { repository_owner: ['acme'], sub: ['*'] },
    { project_path: ['acme/app'], ref_protected: ['true'] },
    { sub: ['repo:acme/app'], 'https://acme.example/role': ['deploy'] },
  ])('accept %j', (rules) => {
    expect(() => checkClaimRules(rules)).not.toThrow();
  });

  it.each<ClaimRules>([
    {},
    { sub: ['*'] },
    { sub: ['**'] },
    { sub: ['repo:*'] },
    { sub: ['repo:*:ref:refs/heads/main'] },
    // Also accepts acme-evil/app.
    { sub: ['repo:acme*'] },
    { sub: ['repo:acme/app', 'repo:*'] },
    { sub: ['::*'] },
    { ref: ['refs/heads/main'] },
    { environment: ['production'], ref_type: ['branch'] },
    { repository: ['*/app'] },
    { repository_owner: ['acme*'] },
  ])('refuse %j, because everybody could match', (rules) => {
    expect(() => checkClaimRules(rules)).toThrow(/^Claims must contain sub or another claim that names the owner/);
  });

  it.each<[ClaimRules, RegExp]>([
    [{ sub: [] }, /sub needs at least one accepted value/],
    [{ sub: [' '] }, /a value of sub is blank/],
    [{ sub: ['a:b'], aud: ['x'] }, /cannot contain aud: set the attribute audience instead/],
    [{ sub: ['a:b'], iss: ['x'] }, /cannot contain iss: set the attribute issuer instead/],
    [{ sub: ['a:b'], ['__proto__']: ['x'] }, /begins with a letter/],
    [{ sub: ['a:b'], 'a b': ['x'] }, /begins with a letter/],
    [{ sub: ['a:b'], '': ['x'] }, /begins with a letter/],
  ])('refuse %j', (rules, detail) => {
    expect(() => checkClaimRules(rules)).toThrow(detail);
  });

  it('never accept rules that match the subjects of two owners', () => {
    const anyAccepted = fc.string({ unit: fc.constantFrom('repo', 'acme', 'x', ':', '/', '*'), maxLength: 8 });
    fc.assert(
      fc.property(fc.array(anyAccepted, { minLength: 1, maxLength: 1 }), (accepted) => {
        const isAccepted = (() => {
          try {
            checkClaimRules({ sub: accepted });
            return true;
          } catch {
            return false;
          }
        })();
        const owners = ['acme', 'x', 'y'].filter(
          (owner) => findMismatches({ sub: accepted }, { sub: `repo:${owner}/x:x` }).length === 0,
        );
        expect(isAccepted && owners.length > 1).toBe(false);
      }),
      { numRuns: 5_000 },
    );
  });
});
