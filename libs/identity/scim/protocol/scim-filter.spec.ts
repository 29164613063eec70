import { describe, expect, it } from '@jest/globals';
import { matchesFilter, parseScimFilter } from './scim-filter.js';

describe('a filter', () => {
  it.each([
    ['userName eq "ada"', { op: 'eq', path: 'userName', value: 'ada' }],
    ['userName EQ "ada"', { op: 'eq', path: 'userName', value: 'ada' }],
    ['active eq True', { op: 'eq', path: 'active', value: true }],
    ['externalId eq null', { op: 'eq', path: 'externalId', value: null }],
    ['userName eq "ACME\\\\ada \\"x\\" (y)"', { op: 'eq', path: 'userName', value: 'ACME\\ada "x" (y)' }],
    ['userName eq "\\u00e9"', { op: 'eq', path: 'userName', value: 'é' }],
    [
      'urn:ietf:params:scim:schemas:core:2.0:User:userName pr',
      { op: 'pr', path: 'urn:ietf:params:scim:schemas:core:2.0:User:userName' },
    ],
    [
      'a pr or b pr and not (c pr)',
      {
        op: 'or',
        filters: [
          { op: 'pr', path: 'a' },
          {
            op: 'and',
            filters: [
              { op: 'pr', path: 'b' },
              { op: 'not', filter: { op: 'pr', path: 'c' } },
            ],
          },
        ],
      },
    ],
    [
      'emails[type eq "work"].value co "@"',
      {
        op: 'in',
        path: 'emails',
        filter: {
          op: 'and',
          filters: [
            { op: 'eq', path: 'type', value: 'work' },
            { op: 'co', path: 'value', value: '@' },
          ],
        },
      },
    ],
  ])('%s is parsed', (text, parsed) => expect(parseScimFilter(text)).toEqual(parsed));

  it.each([
    ['', 'ends too early'],
    ['   ', 'ends too early'],
    ['userName', 'ends too early'],
    ['userName is "x"', 'has "is" instead of an operator: eq, ne, co, sw, ew, gt, ge, lt, le, pr'],
    ['userName eq x', 'has "x" instead of a value: write texts in double quotes'],
    ['userName eq {}', 'has "{}" instead of a value: write texts in double quotes'],
    ['userName eq "x', 'has a text without its second quote at character 12'],
    ['userName eq "x" "y"', 'has "\\"y\\"" where it should end'],
    ['(userName pr', 'has no ) for a bracket'],
    ['emails[value pr', 'has no ] for a bracket'],
    ['"x" eq "x"', 'has "\\"x\\"" instead of an attribute'],
    ['('.repeat(1_000), 'must have at most 20 levels of brackets and not'],
    ['not '.repeat(250), 'must have at most 20 levels of brackets and not'],
    ['x'.repeat(1_025), 'must have at most 1024 characters'],
    ['a\0 pr', 'must not contain a NUL character'],
  ])('%j is refused', (text, reason) => expect(() => parseScimFilter(text)).toThrow(`filter: ${reason}`));

  it('is refused in linear time if a text has no second quote', () => {
    for (const filler of ['\n', '\\"', '\\\\', ' ']) {
      expect(() => parseScimFilter(`userName eq "${filler.repeat(500)}`)).toThrow('second quote');
    }
  });

  it.each([
    ['value eq "A"', true],
    ['Value ne "a"', false],
    ['value eq "a" and display pr', false],
    ['value eq "b" or not (display pr)', true],
  ])('%s matches a member with the value a: %s', (text, matches) => {
    expect(matchesFilter(parseScimFilter(text), { value: 'a' })).toBe(matches);
  });

  it('of members supports few operators', () => {
    expect(() => matchesFilter(parseScimFilter('value co "a"'), { value: 'a' })).toThrow('use eq, ne or pr');
  });
});
