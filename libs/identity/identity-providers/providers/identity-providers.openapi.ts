import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  pageParameters,
} from '#api/json-api/description';
import { createBody, updateBody } from './identity-providers.body.js';
import { IdentityProvidersController } from './identity-providers.controller.js';

export const IDENTITY_PROVIDERS = {
  name: 'Identity providers',
  description: 'Servers that sign people in by OpenID Connect. Only site administrators manage them.',
};

const refusals = {
  unprocessable:
    'A setting is not valid, the provider does not answer, the site has 20 providers, or the settings of the server define the provider.',
};

export const identityProvidersOperations = describeController(IdentityProvidersController, IDENTITY_PROVIDERS, {
  list: {
    operationId: 'listIdentityProviders',
    summary: 'List the identity providers',
    query: pageParameters(),
    answer: describePage('IdentityProvider'),
  },
  create: {
    operationId: 'createIdentityProvider',
    summary: 'Create an identity provider',
    description: 'If `enabled` is true, the server reads the discovery document of the provider and checks it.',
    body: describeBody(createBody, {
      data: {
        type: 'identity-providers',
        attributes: {
          name: 'Acme',
          issuer: 'https://id.example.com',
          'client-id': 'cadastre',
          'client-secret': 'of-the-client',
          enabled: false,
        },
      },
    }),
    answer: describeDocument('IdentityProvider'),
    refusals,
    events: ['IdentityProviderCreated'],
  },
  show: {
    operationId: 'getIdentityProvider',
    summary: 'Show an identity provider',
    answer: describeDocument('IdentityProvider'),
  },
  update: {
    operationId: 'updateIdentityProvider',
    summary: 'Change an identity provider',
    description:
      'If the provider gets enabled or gets another issuer, the server checks its discovery document. With another issuer, ' +
      'send `client-secret` too, because the server does not send the secret of one provider to another.',
    body: describeBody(updateBody, {
      data: { type: 'identity-providers', attributes: { 'allowed-domains': ['example.com'] } },
    }),
    answer: describeDocument('IdentityProvider'),
    refusals,
    events: ['IdentityProviderUpdated'],
  },
  destroy: {
    operationId: 'deleteIdentityProvider',
    summary: 'Delete an identity provider',
    description:
      'Nobody can sign in with it any more. A few seconds later, the sessions that began with it end, and people leave the ' +
      'teams of groups that it stated. Accounts stay. `enabled: false` has the same effects. The deletion also ends the tokens of the provider for SCIM. No ' +
      'token can change the users and groups of the provider afterwards.',
    answer: describeEmpty(),
    refusals: { unprocessable: 'The settings of the server define the provider.' },
    events: ['IdentityProviderDeleted', 'AuthenticationTokenDestroyed'],
  },
});
