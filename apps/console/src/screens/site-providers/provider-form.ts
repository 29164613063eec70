import type { IdentityProvider, ProviderAttributes } from '../../api/identity-providers.js';

/** The values of the fields. Lists are texts with one entry a line. */
export type ProviderFields = {
  readonly name: string;
  readonly issuer: string;
  readonly 'client-id': string;
  readonly 'client-secret': string;
  readonly scopes: string;
  readonly enabled: boolean;
  readonly 'creates-users': boolean;
  readonly 'proves-two-factor': boolean;
  readonly 'maps-groups': boolean;
  readonly 'allowed-domains': string;
  readonly 'allowed-groups': string;
  readonly 'mapped-groups': string;
  readonly 'groups-claim': string;
  readonly 'username-claim': string;
  readonly 'external-id-claim': string;
};

const NEW_PROVIDER: ProviderFields = {
  name: '',
  issuer: '',
  'client-id': '',
  'client-secret': '',
  scopes: 'openid\nprofile\nemail',
  // The server requests the description of an enabled provider, where this site must be registered first.
  enabled: false,
  'creates-users': false,
  'proves-two-factor': false,
  'maps-groups': true,
  'allowed-domains': '',
  'allowed-groups': '',
  'mapped-groups': '',
  'groups-claim': 'groups',
  'username-claim': 'preferred_username',
  'external-id-claim': '',
};

const toLines = (entries: readonly string[]): string => entries.join('\n');

const toEntries = (lines: string): string[] =>
  lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Returns the values of a provider, or those of a new one. The server never returns the secret. */
export const toFields = (provider: IdentityProvider | null): ProviderFields => {
  if (provider === null) return NEW_PROVIDER;
  const { attributes } = provider;
  return {
    name: attributes.name,
    issuer: attributes.issuer,
    'client-id': attributes['client-id'],
    'client-secret': '',
    scopes: toLines(attributes.scopes),
    enabled: attributes.enabled,
    'creates-users': attributes['creates-users'],
    'proves-two-factor': attributes['proves-two-factor'],
    'maps-groups': attributes['maps-groups'],
    'allowed-domains': toLines(attributes['allowed-domains']),
    'allowed-groups': toLines(attributes['allowed-groups']),
    'mapped-groups': toLines(attributes['mapped-groups']),
    'groups-claim': attributes['groups-claim'],
    'username-claim': attributes['username-claim'],
    'external-id-claim': attributes['external-id-claim'] ?? '',
  };
};

/** Returns the attributes of a request. An empty secret keeps the present one. */
export const toAttributes = ({ 'client-secret': secret, ...fields }: ProviderFields): ProviderAttributes => ({
  ...fields,
  ...(secret === '' ? {} : { 'client-secret': secret }),
  scopes: toEntries(fields.scopes),
  'allowed-domains': toEntries(fields['allowed-domains']),
  'allowed-groups': toEntries(fields['allowed-groups']),
  'mapped-groups': toEntries(fields['mapped-groups']),
  'external-id-claim': fields['external-id-claim'] || null,
});
