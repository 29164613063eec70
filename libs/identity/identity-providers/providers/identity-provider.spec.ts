import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { identityProvider, type IdentityProviderEvent } from './identity-provider.js';
import type { ProviderChanges } from '../protocol/provider-settings.js';

const { given } = specify(identityProvider);

const names = { name: 'Acme', issuer: 'https://id.example.com', clientId: 'cadastre' };
const defaults = {
  hasClientSecret: false,
  scopes: ['openid', 'profile', 'email'],
  enabled: true,
  createsUsers: false,
  allowedDomains: [],
  allowedGroups: [],
  groupsClaim: 'groups',
  usernameClaim: 'preferred_username',
  externalIdClaim: null,
  mapsGroups: true,
  provesTwoFactor: false,
  mappedGroups: [],
  protocol: 'oidc',
  signInUrl: null,
  signOutUrl: null,
  certificates: [],
  provesEmails: false,
  serviceCertificate: null,
} as const;
const created: IdentityProviderEvent = { type: 'IdentityProviderCreated', data: { ...names, ...defaults } };
const deleted: IdentityProviderEvent = { type: 'IdentityProviderDeleted', data: { name: 'Acme' } };
const create = (changes: ProviderChanges = {}) =>
  ({ type: 'CreateIdentityProvider', data: { ...names, ...changes } }) as const;
const update = (changes: ProviderChanges, secretReplaced = false) =>
  ({ type: 'UpdateIdentityProvider', data: { changes, secretReplaced } }) as const;
const remove = { type: 'DeleteIdentityProvider', data: {} } as const;

describe('an identity provider', () => {
  it('is created once, and makes no accounts by default', () => {
    given().when(create()).yields(created);
    given(created).when(create()).refuses('conflict', 'exists already');
  });

  it('has domains in lower case, and each entry of a list once', () => {
    const lists = {
      allowedDomains: ['Example.COM', 'example.com'],
      allowedGroups: ['a', 'a'],
      scopes: ['openid', 'openid'],
    };
    const data = { ...names, ...defaults, allowedDomains: ['example.com'], allowedGroups: ['a'], scopes: ['openid'] };
    given().when(create(lists)).yields({ type: 'IdentityProviderCreated', data });
  });

  it.each<[ProviderChanges, string | RegExp]>([
    [{ name: ' ' }, "Name can't be blank"],
    [{ name: 'two\nlines' }, 'Name may only contain visible characters'],
    [{ name: 'x'.repeat(91) }, /^Name is too long/],
    [{ issuer: 'http://id.example.com' }, /^Issuer must be https/],
    [{ issuer: 'https://user:password@id.example.com' }, /^Issuer must be https/],
    [{ issuer: 'https://id.example.com/?tenant=1' }, /^Issuer must be https/],
    [{ issuer: 'id.example.com' }, /^Issuer must be https/],
    [{ issuer: `https://id.example.com/${'x'.repeat(500)}` }, /^Issuer must be https/],
    [{ clientId: '' }, "Client id can't be blank"],
    [{ scopes: ['profile'] }, 'Scopes must include openid'],
    [{ scopes: ['openid', 'two words'] }, 'Scopes must have no spaces or quotes, got "two words"'],
    [{ allowedDomains: ['@example.com'] }, 'Allowed domains must be domains such as example.com, got "@example.com"'],
    [{ allowedGroups: [' '] }, "Allowed groups can't be blank"],
    [
      { mappedGroups: ['acme-*', '*'] },
      'Mapped groups must be names of groups, or the start of names followed by *, got "*"',
    ],
    [
      { mappedGroups: ['a*b'] },
      'Mapped groups must be names of groups, or the start of names followed by *, got "a*b"',
    ],
    [{ groupsClaim: '' }, "Groups claim can't be blank"],
    [{ externalIdClaim: '' }, "External id claim can't be blank"],
    [{ usernameClaim: '\u0000' }, 'Username claim may only contain visible characters'],
  ])('refuses %j', (changes, detail) => {
    given().when(create(changes)).refuses('unprocessable', detail);
    given(created).when(update(changes)).refuses('unprocessable', detail);
  });

  it.each(['http://localhost:8080/realms/acme', 'http://127.0.0.1:9000', 'http://[::1]:9000'])(
    'can be on this machine: %s',
    (issuer) =>
      given()
        .when(create({ issuer }))
        .yields({ type: 'IdentityProviderCreated', data: { ...names, ...defaults, issuer } }),
  );

  it('does not keep its secret with another issuer', () => {
    const issuer = 'https://other.example.com';
    const withSecret: IdentityProviderEvent = {
      type: 'IdentityProviderUpdated',
      data: { changes: { hasClientSecret: true }, secretReplaced: true },
    };
    const updated = (changes: ProviderChanges, secretReplaced: boolean): IdentityProviderEvent => ({
      type: 'IdentityProviderUpdated',
      data: { changes, secretReplaced },
    });
    given(created, withSecret)
      .when(update({ issuer }))
      .refuses(
        'unprocessable',
        'Client secret must be sent with another issuer: the secret of the new client, or null if it has none',
      );
    given(created, withSecret)
      .when(update({ issuer, hasClientSecret: true }, true))
      .yields(updated({ issuer }, true));
    given(created, withSecret)
      .when(update({ issuer, hasClientSecret: false }))
      .yields(updated({ issuer, hasClientSecret: false }, false));
    given(created).when(update({ issuer })).yields(updated({ issuer }, false));
  });

  it('records only what changes', () => {
    const updated = (changes: ProviderChanges, secretReplaced = false): IdentityProviderEvent => ({
      type: 'IdentityProviderUpdated',
      data: { changes, secretReplaced },
    });
    given(created)
      .when(update({ name: 'Acme', enabled: false }))
      .yields(updated({ enabled: false }));
    given(created, updated({ enabled: false }))
      .when(update({ enabled: false }))
      .yields();
    given(created).when(update({}, true)).yields(updated({}, true));
    given(created)
      .when(update({ hasClientSecret: true }, true))
      .yields(updated({ hasClientSecret: true }, true));
  });

  it('is deleted under its last name, and refuses every command afterwards', () => {
    given(created).when(remove).yields(deleted);
    given(created, deleted).when(remove).refuses('not-found', 'Not found');
    given(created, deleted)
      .when(update({ enabled: false }))
      .refuses('not-found', 'Not found');
  });
});
