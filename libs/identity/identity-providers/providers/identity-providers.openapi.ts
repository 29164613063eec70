import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeResourceBody,
  describeSettings,
  exampleText,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { createBody, updateBody, IdentityProvidersController } from './identity-providers.controller.js';
import { PROVIDER_SETTINGS } from '../protocol/provider-settings.js';

const example = 'idp-6hRw3YtPz9VmKc2N';

export const identityProviderSchema = defineResource({
  name: 'IdentityProvider',
  type: 'identity-providers',
  description:
    'A server that signs people in by OpenID Connect or SAML 2.0. No response contains the secret of the client or a private key.',
  exampleId: example,
  attributes: {
    ...describeSettings(PROVIDER_SETTINGS.shape),
    name: exampleText('Acme'),
    issuer: exampleText('https://id.example.com', 'The address by which the provider calls itself, or its entity ID.'),
    'client-id': exampleText(
      'cadastre',
      'The name of this server at the provider. With SAML its entity ID, by default the address of its metadata.',
    ),
    'has-client-secret': z.boolean().meta({ description: 'Whether the server has a secret of the client.' }),
    scopes: z.array(z.string()).meta({
      description: 'The scopes that the server requests.',
      examples: [['openid', 'profile', 'email']],
    }),
    'creates-users': z.boolean().meta({ description: 'Whether the first sign-in of a person creates an account.' }),
    'allowed-domains': z.array(z.string()).meta({
      description: 'If the list is not empty, people need a verified e-mail address in one of these domains.',
      examples: [['example.com']],
    }),
    'allowed-groups': z.array(z.string()).meta({
      description: 'If the list is not empty, people need one of these groups.',
      examples: [['cadastre-users']],
    }),
    'groups-claim': exampleText('groups', 'The claim with the groups of a person.'),
    'username-claim': exampleText('preferred_username', 'The claim from which the user name of a new account derives.'),
    'external-id-claim': exampleText(
      'sub',
      'The claim that equals the `externalId` of users that SCIM provisions, and the first sign-in then links these users. Null: none.',
    ).nullable(),
    'maps-groups': z.boolean().meta({
      description: 'Whether people join teams whose `sso-team-id` is one of their groups, and leave the others.',
    }),
    'proves-two-factor': z.boolean().meta({
      description:
        'Whether the provider requires a second factor of everybody. If not, people who use one-time codes type one here ' +
        'too, and only then does the sign-in count as two-factor.',
    }),
    'mapped-groups': z.array(z.string()).meta({
      description:
        'The groups that map to teams: names, or starts of names followed by `*`. An empty list means every group. Owners ' +
        'teams map only to groups that the list contains by their full names.',
      examples: [['acme-*', 'cadastre-owners']],
    }),
    protocol: z.enum(['oidc', 'saml']).meta({ description: 'OpenID Connect or SAML 2.0. It cannot be changed.' }),
    'sign-in-url': exampleText(
      'https://id.example.com/saml/sso',
      'SAML: the address of the single sign-on service with the HTTP-Redirect binding.',
    ).nullable(),
    'sign-out-url': exampleText(
      'https://id.example.com/saml/slo',
      'SAML: the address of the single logout service with the HTTP-Redirect binding. Null: none.',
    ).nullable(),
    certificates: z.array(z.string()).meta({
      description: 'SAML: the certificates with which the provider signs, as PEM. Their dates do not count.',
      examples: [[]],
    }),
    'proves-emails': z.boolean().meta({
      description: 'SAML: whether the provider has verified each e-mail address that it states.',
    }),
    'service-certificate': exampleText(
      '-----BEGIN CERTIFICATE-----\n…',
      'SAML: the certificate of this server at the provider, with which it signs requests and decrypts assertions.',
    ).nullable(),
    'created-at': timestamp('Null for the provider of the settings.').nullable(),
    source: z.enum(['api', 'settings']).meta({
      description: 'Whether the API or the settings of the server (`CADASTRE_OIDC_ISSUER`) define the provider.',
    }),
    'callback-url': exampleText(
      `https://cadastre.example.com/sign-in/oidc/${example}/callback`,
      'The redirect URI to register at the provider, or with SAML the assertion consumer service.',
    ),
    'back-channel-logout-url': exampleText(
      `https://cadastre.example.com/oauth/back-channel-logout/${example}`,
      'The address for back-channel logout to register at the provider. Null with SAML.',
    ).nullable(),
    'metadata-url': exampleText(
      `https://cadastre.example.com/sign-in/saml/${example}/metadata`,
      'SAML: the metadata of this server, to upload at the provider.',
    ).nullable(),
  },
  links: { self: serverPath(`/api/v2/admin/identity-providers/${example}`) },
});

export const IDENTITY_PROVIDERS = {
  name: 'Identity providers',
  description: 'Servers that sign people in by OpenID Connect or SAML 2.0. Only site administrators manage them.',
};

const refusals = {
  unprocessable:
    'A setting is not valid, the provider does not answer, the site has 20 providers, or the settings of the server define the provider.',
};

export const identityProvidersOperations = describeController(
  IdentityProvidersController,
  { ...IDENTITY_PROVIDERS, resource: identityProviderSchema },
  {
    list: {},
    create: {
      description:
        'OpenID Connect needs `issuer` and `client-id`. If `enabled` is true, the server reads the discovery document of the provider ' +
        'and checks it. With `protocol: saml`, send `metadata` or `metadata-url`, which the server reads once, or `issuer`, ' +
        '`sign-in-url` and `certificates`. Such a provider is disabled at first.',
      body: describeResourceBody(createBody, {
        name: 'Acme',
        issuer: 'https://id.example.com',
        'client-id': 'cadastre',
        'client-secret': 'of-the-client',
        enabled: false,
      }),
      refusals,
      events: ['IdentityProviderCreated', 'SamlConfigurationCreated'],
    },
    show: {},
    update: {
      description:
        'If the provider gets enabled or gets another issuer, the server checks its discovery document. With another issuer, ' +
        'send `client-secret` too, because the server does not send the secret of one provider to another.',
      body: describeResourceBody(updateBody, { 'allowed-domains': ['example.com'] }),
      refusals,
      events: [
        'IdentityProviderUpdated',
        'SamlConfigurationUpdated',
        'SamlConfigurationEnabled',
        'SamlConfigurationDisabled',
      ],
    },
    destroy: {
      description:
        'Nobody can sign in with it any more. A few seconds later, the sessions that began with it end, and people leave the ' +
        'teams of groups that it stated. Accounts stay. `enabled: false` has the same effects. The deletion also ends the tokens of the provider for SCIM. No ' +
        'token can change the users and groups of the provider afterwards.',
      refusals: { unprocessable: 'The settings of the server define the provider.' },
      events: ['IdentityProviderDeleted', 'SamlConfigurationDestroyed', 'AuthenticationTokenDestroyed'],
    },
  },
);
