import { describe, expect, it } from '@jest/globals';
import { parseVersionConstraint } from './version-constraint.js';

describe('a version constraint', () => {
  it.each([
    ['1.5.7', '=1.5.7'],
    ['= 1.5.7', '=1.5.7'],
    ['1.5', '=1.5.0'],
    ['=1', '=1.0.0'],
    ['>= 1.3', '>=1.3.0'],
    ['> 1.3.2', '>1.3.2'],
    ['<=1.6', '<=1.6.0'],
    ['>= 1.3, < 1.6', '>=1.3.0 <1.6.0'],
    ['  >=1.3,<1.6  ', '>=1.3.0 <1.6.0'],
    // The last written number may grow.
    ['~> 1.5.0', '>=1.5.0 <1.6.0'],
    ['~> 1.5.7', '>=1.5.7 <1.6.0'],
    ['~> 1.5', '>=1.5.0 <2.0.0'],
    ['~> 1', '>=1.0.0'],
    ['~>0.12.0', '>=0.12.0 <0.13.0'],
    ['= 1.6.0-beta1', '=1.6.0-beta1'],
    ['1.1.2-custom.4', '=1.1.2-custom.4'],
    ['> 1.1.2-0.0a.10', '>1.1.2-0.0a.10'],
  ])('%j becomes %j for npm', (text, range) => {
    expect(parseVersionConstraint(text)).toEqual({ range, except: [] });
  });

  it('excludes versions', () => {
    expect(parseVersionConstraint('~> 1.4.0, != 1.4.2, != 1.4')).toEqual({
      range: '>=1.4.0 <1.5.0',
      except: ['1.4.2', '1.4.0'],
    });
    expect(parseVersionConstraint('!= 1.4.2')).toEqual({ range: '*', except: ['1.4.2'] });
  });

  it.each([
    '',
    ' ',
    'newest',
    'v1.5.7',
    '^1.5',
    '1.x',
    '>= 1.3,',
    '>= 1.3 < 1.6',
    '>= 1.3 || < 1.0',
    '~> ',
    '=> 1.3',
    '1.2.3.4',
    '01.2.3',
    '1.5-beta1',
    // npm does not accept a number with a leading zero there either.
    '1.5.0-01',
    '~> 1.5.0-rc.00',
    '!= 1.5.0-007',
    '1.5.0-rc..1',
    '1.2.3+build',
    '1.99999999999999999999.0',
  ])('%j is refused', (text) => {
    expect(parseVersionConstraint(text)).toBeNull();
  });
});
