import { describe, expect, it } from '@jest/globals';
import { needsMoreClaims, parseIdentityClaims } from './identity-claims.js';

const settings = {
  groupsClaim: 'groups',
  usernameClaim: 'preferred_username',
  externalIdClaim: null,
  createsUsers: false,
  allowedDomains: [],
  allowedGroups: [],
  mapsGroups: false,
};

const parse = (idToken: object, userinfo: object = {}, changes: Partial<typeof settings> = {}) =>
  parseIdentityClaims({ sub: '1', ...idToken }, { ...userinfo }, { ...settings, ...changes });

describe('the claims of a person', () => {
  it('are the subject alone at least', () => {
    expect(parse({})).toEqual({
      subject: '1',
      providerSession: null,
      authenticatedAt: null,
      name: '1',
      email: null,
      isEmailVerified: false,
      groups: null,
      externalId: null,
    });
  });

  it.each([[undefined], [''], ['x'.repeat(256)], [7], ['a\u0000b']])('are refused with the subject %j', (sub) => {
    expect(parse({ sub })).toBeNull();
  });

  it('come from the ID token before they come from userinfo', () => {
    expect(parse({ preferred_username: 'signed' }, { preferred_username: 'other', groups: ['a'] })).toMatchObject({
      name: 'signed',
      groups: ['a'],
    });
    expect(parse({}, { sub: '2' })?.subject).toBe('1');
  });

  it('have an address and its verification from one source', () => {
    const verified = { email: 'ada@example.com', email_verified: true };
    expect(parse({ email: 'eve@example.com' }, verified)).toMatchObject({
      email: 'ada@example.com',
      isEmailVerified: true,
    });
    expect(parse({ email: 'eve@example.com', email_verified: false }, verified)).toMatchObject({
      email: 'eve@example.com',
      isEmailVerified: false,
    });
    expect(parse({ email: 'eve@example.com' }, { email_verified: true })).toMatchObject({ isEmailVerified: false });
  });

  it.each([
    [true, true],
    ['true', true],
    [false, false],
    ['yes', false],
    [1, false],
  ])('have a verified address if the provider sends %j: %j', (value, isEmailVerified) => {
    expect(parse({ email: 'ada@example.com', email_verified: value })).toMatchObject({ isEmailVerified });
  });

  it.each(['ada', 'two words@example.com', `${'x'.repeat(250)}@example.com`, 'a@b\u0000'])(
    'have no address if it is %j',
    (email) => expect(parse({ email, email_verified: true })?.email).toBeNull(),
  );

  it.each<[unknown, readonly string[] | null]>([
    [undefined, null],
    [[], []],
    [
      ['a', 'b', 'a'],
      ['a', 'b'],
    ],
    ['one', ['one']],
    [['a', 'x'.repeat(256), 'b\u0000', ''], ['a']],
    [['a', 7], null],
    [{ a: true }, null],
    [Array.from({ length: 1_001 }, (_, n) => `g${n}`), null],
  ])('have groups: %#', (groups, expected) => {
    expect(parse({ groups })?.groups).toEqual(expected);
  });

  it('have the claims that the settings name', () => {
    const changes = {
      groupsClaim: 'https://example.com/roles',
      usernameClaim: 'nickname',
      externalIdClaim: 'oid' as never,
    };
    const idToken = { 'https://example.com/roles': ['a'], nickname: 'ada', oid: '42', groups: ['b'] };
    expect(parse(idToken, {}, changes)).toMatchObject({ name: 'ada', groups: ['a'], externalId: '42' });
  });

  it('have no external id that is an address of another source than its verification', () => {
    const idToken = { email: 'eve@example.com' };
    const userinfo = { email: 'ada@example.com', email_verified: true };
    expect(parse(idToken, userinfo, { externalIdClaim: 'email' as never })).toMatchObject({
      email: 'ada@example.com',
      externalId: null,
    });
  });
});

describe('userinfo', () => {
  it.each<[Partial<typeof settings>, object, boolean]>([
    [{}, {}, false],
    [{ mapsGroups: true }, {}, true],
    [{ mapsGroups: true }, { groups: [] }, false],
    [{ allowedGroups: ['a'] as never }, {}, true],
    [{ allowedDomains: ['a.example'] as never }, {}, true],
    [{ allowedDomains: ['a.example'] as never }, { email: 'ada@a.example' }, false],
    [{ createsUsers: true }, { email: 'ada@a.example' }, true],
    [{ createsUsers: true }, { email: 'ada@a.example', preferred_username: 'ada' }, false],
    [{ externalIdClaim: 'oid' as never }, {}, true],
  ])('is needed with %j and %j: %j', (changes, idToken, isNeeded) => {
    expect(needsMoreClaims({ ...idToken }, { ...settings, ...changes })).toBe(isNeeded);
  });
});
