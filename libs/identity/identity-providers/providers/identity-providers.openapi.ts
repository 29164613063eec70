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
  description: 'A server that signs people in by OpenID Connect. No response contains the secret of the client.',
  exampleId: example,
  attributes: {
    ...describeSettings(PROVIDER_SETTINGS.shape),
    name: exampleText('Acme'),
    issuer: exampleText('https://id.example.com', 'The address by which the provider calls itself.'),
    'client-id': exampleText('cadastre'),
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
    'created-at': timestamp('Null for the provider of the settings.').nullable(),
    source: z.enum(['api', 'settings']).meta({
      description: 'Whether the API or the settings of the server (`CADASTRE_OIDC_ISSUER`) define the provider.',
    }),
    'callback-url': exampleText(
      `https://cadastre.example.com/sign-in/oidc/${example}/callback`,
      'The redirect URI to register at the provider.',
    ),
    'back-channel-logout-url': exampleText(
      `https://cadastre.example.com/oauth/back-channel-logout/${example}`,
      'The address for back-channel logout to register at the provider.',
    ),
  },
  links: { self: serverPath(`/api/v2/admin/identity-providers/${example}`) },
});

export const IDENTITY_PROVIDERS = {
  name: 'Identity providers',
  description: 'Servers that sign people in by OpenID Connect. Only site administrators manage them.',
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
      description: 'If `enabled` is true, the server reads the discovery document of the provider and checks it.',
      body: describeResourceBody(createBody, {
        name: 'Acme',
        issuer: 'https://id.example.com',
        'client-id': 'cadastre',
        'client-secret': 'of-the-client',
        enabled: false,
      }),
      refusals,
    },
    show: {},
    update: {
      description:
        'If the provider gets enabled or gets another issuer, the server checks its discovery document. With another issuer, ' +
        'send `client-secret` too, because the server does not send the secret of one provider to another.',
      body: describeResourceBody(updateBody, { 'allowed-domains': ['example.com'] }),
      refusals,
    },
    destroy: {
      description:
        'Nobody can sign in with it any more. A few seconds later, the sessions that began with it end, and people leave the ' +
        'teams of groups that it stated. Accounts stay. `enabled: false` has the same effects. The deletion also ends the tokens of the provider for SCIM. No ' +
        'token can change the users and groups of the provider afterwards.',
      refusals: { unprocessable: 'The settings of the server define the provider.' },
      events: ['IdentityProviderDeleted', 'AuthenticationTokenDestroyed'],
    },
  },
);
