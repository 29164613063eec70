import type { IdentityProvider, ProviderAttributes } from '../../api/identity-providers.js';

/** The values of the fields. Lists are texts with one entry a line. */
export type ProviderFields = {
  readonly name: string;
  readonly protocol: 'oidc' | 'saml';
  readonly issuer: string;
  readonly 'client-id': string;
  readonly 'client-secret': string;
  readonly scopes: string;
  readonly metadata: string;
  readonly 'metadata-url': string;
  readonly 'sign-in-url': string;
  readonly 'sign-out-url': string;
  readonly certificates: string;
  readonly 'proves-emails': boolean;
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
  protocol: 'oidc',
  issuer: '',
  'client-id': '',
  'client-secret': '',
  scopes: 'openid\nprofile\nemail',
  metadata: '',
  'metadata-url': '',
  'sign-in-url': '',
  'sign-out-url': '',
  certificates: '',
  'proves-emails': false,
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
    protocol: attributes.protocol,
    issuer: attributes.issuer,
    'client-id': attributes['client-id'],
    'client-secret': '',
    scopes: toLines(attributes.scopes),
    metadata: '',
    'metadata-url': '',
    'sign-in-url': attributes['sign-in-url'] ?? '',
    'sign-out-url': attributes['sign-out-url'] ?? '',
    certificates: toLines(attributes.certificates.map((certificate) => certificate.trim())),
    'proves-emails': attributes['proves-emails'],
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

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Returns the certificates of a text, or the text itself so that the server says what is wrong. */
const toCertificates = (text: string): string[] => (text === '' ? [] : (text.match(CERTIFICATE) ?? [text]));

const dropEmpty = <V extends Readonly<Record<string, string | readonly string[] | null>>>(values: V): Partial<V> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value.length > 0),
  ) as unknown as Partial<V>;

/** An empty field of a new provider is what the metadata say. In an edit, the person has cleared it. */
const toSamlAttributes = (fields: ProviderFields, isNew: boolean) => {
  const { metadata, 'metadata-url': metadataUrl, issuer, 'client-id': entityId } = fields;
  const clearable = {
    'sign-in-url': fields['sign-in-url'] || null,
    'sign-out-url': fields['sign-out-url'] || null,
    certificates: toCertificates(fields.certificates),
  };
  return {
    ...dropEmpty({ metadata, 'metadata-url': metadataUrl, issuer, 'client-id': entityId }),
    ...(isNew ? dropEmpty(clearable) : clearable),
    'proves-emails': fields['proves-emails'],
  };
};

const toOidcAttributes = (fields: ProviderFields) => ({
  issuer: fields.issuer,
  'client-id': fields['client-id'],
  ...(fields['client-secret'] === '' ? {} : { 'client-secret': fields['client-secret'] }),
  scopes: toEntries(fields.scopes),
});

/** Returns the attributes of a request. An empty secret keeps the present one. */
export const toAttributes = (fields: ProviderFields, isNew: boolean): ProviderAttributes => ({
  name: fields.name,
  protocol: fields.protocol,
  enabled: fields.enabled,
  'creates-users': fields['creates-users'],
  'proves-two-factor': fields['proves-two-factor'],
  'maps-groups': fields['maps-groups'],
  'groups-claim': fields['groups-claim'],
  'username-claim': fields['username-claim'],
  'allowed-domains': toEntries(fields['allowed-domains']),
  'allowed-groups': toEntries(fields['allowed-groups']),
  'mapped-groups': toEntries(fields['mapped-groups']),
  'external-id-claim': fields['external-id-claim'] || null,
  ...(fields.protocol === 'saml' ? toSamlAttributes(fields, isNew) : toOidcAttributes(fields)),
});
