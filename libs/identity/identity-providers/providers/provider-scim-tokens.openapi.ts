import {
  describeController,
  describeDocument,
  describePage,
  describeResourceBody,
  pageParameters,
} from '#api/json-api/description';
import { agentBody, LIST_SIZE } from '#identity/people';
import { IDENTITY_PROVIDERS } from './identity-providers.openapi.js';
import { ProviderScimTokensController } from './provider-scim-tokens.controller.js';

export const providerScimTokensOperations = describeController(ProviderScimTokensController, IDENTITY_PROVIDERS, {
  list: {
    operationId: 'listIdentityProviderScimTokens',
    summary: 'List the tokens of an identity provider for SCIM',
    query: pageParameters(LIST_SIZE),
    answer: describePage('AuthenticationToken'),
  },
  create: {
    operationId: 'createIdentityProviderScimToken',
    summary: 'Create a token of an identity provider for SCIM',
    description:
      'The token sees and changes only users and groups that tokens of this provider created. Only this answer contains the ' +
      'token itself. The server stores a hash of it.',
    body: describeResourceBody(agentBody, { description: 'identity provider' }),
    answer: describeDocument('AuthenticationToken'),
    refusals: { unprocessable: 'An attribute is not valid, or the provider has the largest number of tokens.' },
  },
});
