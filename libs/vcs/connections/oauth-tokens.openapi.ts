import { z } from 'zod';
import {
  defineResource,
  describeController,
  describePage,
  describeResourceBody,
  exampleText,
  pageParameters,
  related,
  timestamp,
} from '#api/json-api/description';
import { OauthTokensController, updateTokenBody } from './oauth-tokens.controller.js';

export const oauthTokenSchema = defineResource({
  name: 'OAuthToken',
  type: 'oauth-tokens',
  noun: 'OAuth token',
  description: 'The token of an OAuth client. Workspaces name it to use the connection. No response contains its text.',
  exampleId: 'ot-3bVnK8qRtYpLc7Xd',
  attributes: {
    'created-at': timestamp(),
    'has-ssh-key': z.boolean().meta({ examples: [false] }),
    'service-provider-user': exampleText('cadastre-bot', 'The account of the Git host that the token belongs to.'),
    uid: exampleText('ot-3bVnK8qRtYpLc7Xd'),
  },
  relationships: { 'oauth-client': related.one('oauth-clients') },
  hasSelfLink: true,
});

const PEM = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE=\n-----END OPENSSH PRIVATE KEY-----\n';

export const oauthTokensOperations = describeController(
  OauthTokensController,
  { name: 'OAuth tokens', description: 'Tokens of OAuth clients.', resource: oauthTokenSchema },
  {
    list: {},
    listOfClient: {
      query: pageParameters(),
      answer: describePage('OAuthToken'),
      summary: 'List the tokens of an OAuth client',
    },
    show: {},
    update: {
      summary: 'Store the SSH key of an OAuth token',
      body: describeResourceBody(updateTokenBody, { 'ssh-key': PEM }),
      refusals: { unprocessable: 'The text is not a private key.' },
      events: ['OauthTokenSshKeyStored'],
    },
    destroy: { description: 'The OAuth client remains, and can get another token.' },
  },
);
