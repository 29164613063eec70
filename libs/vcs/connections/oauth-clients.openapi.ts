import { z } from 'zod';
import {
  always,
  defineResource,
  describeBody,
  describeController,
  describeResourceBody,
  exampleText,
  pageParameters,
  related,
  timestamp,
} from '#api/json-api/description';
import { MAX_PAGE_SIZE } from '#api/json-api';
import { createBody, INCLUDES, OauthClientsController, projectsBody, updateBody } from './oauth-clients.controller.js';

export const oauthClientSchema = defineResource({
  name: 'OAuthClient',
  type: 'oauth-clients',
  noun: 'OAuth client',
  description: 'A connection of an organization to a Git host, with the token of an account of the host.',
  exampleId: 'oc-9sRk2mTqXb4VnYw7',
  attributes: {
    'api-url': exampleText('https://git.example.com/api/v1'),
    'callback-url': exampleText(
      'https://cadastre.example.com/auth/vcs/callback/git.example.com',
      'Where the Git host sends browsers back. Null for a connection with an access token.',
    ).nullable(),
    'connect-path': exampleText(
      '/auth/vcs/oc-9sRk2mTqXb4VnYw7',
      'Where a person authorizes the connection in a browser. Null for a connection with an access token.',
    ).nullable(),
    'created-at': timestamp(),
    'http-url': exampleText('https://git.example.com'),
    key: exampleText('d3b07384-d113-4956-a5fd-3c1b2b1c2f4e', 'The client id of an OAuth application.').nullable(),
    name: exampleText('Git of Acme').nullable(),
    'organization-scoped': z.boolean().meta({
      description: 'Whether all workspaces may use the connection. Otherwise only those of its projects may.',
      examples: [true],
    }),
    'rsa-public-key': always(null),
    secret: always(null),
    'service-provider': exampleText('gitea'),
    'service-provider-display-name': exampleText('Gitea'),
    'token-refused-at': timestamp()
      .nullable()
      .meta({
        description:
          'Since when the Git host refuses the token: it was revoked, or has expired. Null if it does not. Cadastre only.',
        examples: [null],
      }),
    'updated-at': timestamp(),
  },
  relationships: {
    'agent-pool': related.none(),
    'oauth-tokens': related.many('oauth-tokens'),
    organization: related.one('organizations'),
    projects: related.many('projects'),
  },
  hasSelfLink: true,
});

const OAUTH_CLIENTS = {
  name: 'OAuth clients',
  description: 'Connections of organizations to Git hosts.',
  resource: oauthClientSchema,
  include: { values: INCLUDES, resources: ['OAuthToken', 'Project'] },
};

const UNCONFIRMED = 'The kind of Git host cannot be connected, or the host does not confirm the token.';

export const oauthClientsOperations = describeController(OauthClientsController, OAUTH_CLIENTS, {
  list: { query: pageParameters(MAX_PAGE_SIZE) },
  create: {
    description:
      'The server requests the account of the token from the Git host, and stores the token encrypted. With `key` and `secret` of an OAuth application instead of `oauth-token-string`, a person authorizes the connection at `connect-path`. `gitea` and `forgejo` are service providers of Cadastre.',
    body: describeResourceBody(createBody, {
      'service-provider': 'gitea',
      name: 'Git of Acme',
      'http-url': 'https://git.example.com',
      'api-url': 'https://git.example.com/api/v1',
      'oauth-token-string': '0b5f1e6a9c3d47e2b8a6f1c2d3e4f5a6b7c8d9e0',
    }),
    refusals: { unprocessable: UNCONFIRMED },
    events: ['OauthClientCreated', 'OauthTokenCreated'],
  },
  show: {},
  update: {
    description: 'The kind and the addresses of the Git host cannot change, because they decide who gets the token.',
    body: describeResourceBody(updateBody, { name: 'Git' }),
    refusals: { unprocessable: UNCONFIRMED },
    events: ['OauthClientUpdated', 'OauthClientSecretReplaced', 'OauthTokenAdded', 'OauthTokenReplaced'],
  },
  destroy: {
    summary: 'Delete an OAuth client with its token',
    events: ['OauthClientDestroyed', 'OauthTokenDestroyed'],
  },
  addProjects: {
    operationId: 'addOAuthClientProjects',
    summary: 'Let projects use an OAuth client',
    body: describeBody(projectsBody, { data: [{ type: 'projects', id: 'prj-4nZ8kXbVq2TwYc6R' }] }),
    refusals: { unprocessable: 'A project does not exist.' },
    events: ['OauthClientUpdated'],
  },
  removeProjects: {
    operationId: 'removeOAuthClientProjects',
    summary: 'Remove projects from an OAuth client',
    body: describeBody(projectsBody, { data: [{ type: 'projects', id: 'prj-4nZ8kXbVq2TwYc6R' }] }),
    events: ['OauthClientUpdated'],
  },
});
