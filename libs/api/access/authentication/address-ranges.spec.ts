import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createAddressMatcher, parseAddressRange } from './address-ranges.js';

const problemOf = (text: string): string => {
  const parsed = parseAddressRange(text);
  if ('range' in parsed) throw new Error(`${text} was accepted as ${parsed.range}`);
  return parsed.problem;
};

describe('parseAddressRange', () => {
  it.each([
    ['203.0.113.0/24', '203.0.113.0/24'],
    [' 203.0.113.7 ', '203.0.113.7/32'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['2001:DB8::/32', '2001:db8::/32'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1/128'],
    ['::/0', '::/0'],
    ['::1', '::1/128'],
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    ['::ffff:a00:0/104', '10.0.0.0/8'],
    ['::ffff:10.1.2.3', '10.1.2.3/32'],
  ])('reads %s as %s', (text, range) => {
    expect(parseAddressRange(text)).toEqual({ range });
    expect(parseAddressRange(range)).toEqual({ range });
  });

  it.each([
    '',
    '/8',
    'office',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0.0/ 8',
    '10.0.0/8',
    '010.0.0.0/8',
    '0x0a.0.0.0/8',
    '167772160/8',
    '256.0.0.0/8',
    '2001:db8::/129',
    '2001:db8::1::/64',
    'fe80::1%eth0/64',
    '::10.0.0.1',
    '10.0.0.1-10.0.0.9',
    '10.0.0.0/255.0.0.0',
    `2001:db8::/${'3'.repeat(100)}`,
  ])('refuses %j and says what is accepted', (text) => {
    expect(problemOf(text)).toBe(
      `must be an IPv4 or IPv6 range in CIDR notation, such as 203.0.113.0/24 or 2001:db8::/32, or one address, got "${text}"`,
    );
  });

  it.each([
    ['10.1.2.3/8', '10.0.0.0/8', '10.1.2.3/32'],
    ['2001:db8::1/32', '2001:db8::/32', '2001:db8::1/128'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8', '10.1.2.3/32'],
  ])('refuses %s, which begins inside of its range, and names both corrections', (text, range, address) => {
    expect(problemOf(text)).toBe(
      `must begin with the first address of the range: ${range}, or ${address} for one address, got "${text}"`,
    );
  });

  it('refuses a part of the IPv4 addresses that are written as IPv6', () => {
    expect(problemOf('::ffff:0:0/90')).toMatch(/^must begin with the first address of the range: /);
  });

  it('never throws', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'0123456789abcdef:./%x- '.split('')) }),
        (text) => void parseAddressRange(text),
      ),
    );
  });
});

describe('createAddressMatcher', () => {
  it.each([
    ['203.0.113.7', true],
    ['::ffff:203.0.113.7', true],
    ['::ffff:cb00:7107', true],
    ['203.0.114.7', false],
    ['2001:db8:0:1::5', true],
    ['2001:DB8::5', true],
    ['2001:db9::5', false],
    ['fe80::5%eth0', true],
    ['::203.0.113.7', false],
    ['', false],
    ['unknown', false],
    ['203.0.113.7:4711', false],
  ])('finds %j: %s', (address, isContained) => {
    const matches = createAddressMatcher(['203.0.113.0/24', '2001:db8::/32', 'fe80::/10']);
    expect(matches(address)).toBe(isContained);
  });

  it('finds no IPv4 address in IPv6 ranges, and none in an empty list', () => {
    expect(createAddressMatcher(['::/0'])('203.0.113.7')).toBe(false);
    expect(createAddressMatcher(['::/0'])('::ffff:203.0.113.7')).toBe(false);
    expect(createAddressMatcher(['0.0.0.0/0'])('2001:db8::5')).toBe(false);
    expect(createAddressMatcher([])('203.0.113.7')).toBe(false);
  });
});
