import { describe, expect, it } from '@jest/globals';
import type { IdentityClaims } from '../protocol/identity-claims.js';
import { findTrustedEmail, findTrustedExternalId, findUnsatisfiedRules } from './sign-in-rules.js';

const claims: IdentityClaims = {
  subject: '1',
  providerSession: null,
  authenticatedAt: null,
  name: 'ada',
  email: 'ada@Example.com',
  isEmailVerified: true,
  groups: ['developers'],
  externalId: null,
};

const find = (changes: Partial<IdentityClaims>, allowedDomains: string[], allowedGroups: string[]) =>
  findUnsatisfiedRules({ ...claims, ...changes }, { allowedDomains, allowedGroups });

describe('the rules of a provider', () => {
  it.each<[string, Partial<IdentityClaims>, string[], string[], string[]]>([
    ['no rule', { email: null, groups: null }, [], [], []],
    ['a domain, in any case', {}, ['example.com'], [], []],
    ['another domain', {}, ['example.org'], [], ['domain']],
    ['a subdomain of an allowed one', { email: 'ada@sub.example.com' }, ['example.com'], [], ['domain']],
    ['a domain in the local part', { email: 'ada@example.com@attacker.example' }, ['example.com'], [], ['domain']],
    ['an address that is not verified', { isEmailVerified: false }, ['example.com'], [], ['verified-email']],
    ['no address', { email: null }, ['example.com'], [], ['verified-email']],
    ['one of the groups', {}, [], ['operators', 'developers'], []],
    ['none of the groups', {}, [], ['operators'], ['group']],
    ['a group in another case', {}, [], ['Developers'], ['group']],
    ['no statement about groups', { groups: null }, [], ['developers'], ['group']],
    ['both missing', {}, ['example.org'], ['operators'], ['domain', 'group']],
  ])('with %s', (_, changes, domains, groups, faults) => {
    expect(find(changes, domains, groups)).toEqual(faults);
  });
});

describe('the address of a new account', () => {
  it.each<[string | null, string, Partial<IdentityClaims>, string[]]>([
    ['ada@Example.com', 'in an allowed domain', {}, ['example.com']],
    [null, 'of a provider without allowed domains', {}, []],
    [null, 'in another domain', {}, ['example.org']],
    [null, 'that is not verified', { isEmailVerified: false }, ['example.com']],
    [null, 'that is missing', { email: null }, ['example.com']],
  ])('is %s for an address %s', (email, _, changes, allowedDomains) => {
    expect(findTrustedEmail({ ...claims, ...changes }, { allowedDomains })).toBe(email);
  });
});

describe('the external id of a person', () => {
  it.each<[string, Partial<IdentityClaims>, string, string[], string | null]>([
    ['the claim of the settings', { externalId: '42' }, 'oid', [], '42'],
    ['a verified address in an allowed domain', {}, 'email', ['example.com'], 'ada@Example.com'],
    ['no address without allowed domains', {}, 'email', [], null],
    ['no address that is not verified', { isEmailVerified: false }, 'email', ['example.com'], null],
  ])('is %s', (_, changes, externalIdClaim, allowedDomains, expected) => {
    expect(findTrustedExternalId({ ...claims, ...changes }, { externalIdClaim, allowedDomains })).toBe(expected);
  });
});
