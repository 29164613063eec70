import { z } from 'zod';
import { TOKEN_ACCESS } from '#api/access';
import {
  defineResource,
  describeBody,
  describeController,
  describeOptionalBody,
  exampleText,
  type OperationDescription,
  pageParameters,
  parameter,
  related,
  sortParameter,
  timestamp,
} from '#api/json-api/description';
import { agentBody, body, onlyTokenBody, teamBody, userBody } from './authentication-tokens.body.js';
import { AuthenticationTokensController, LIST_SIZE, ORGANIZATION_TOKENS } from './authentication-tokens.controller.js';
import { TEAM_TOKEN_SORTS } from './authentication-tokens.queries.js';

export const authenticationTokenSchema = defineResource({
  name: 'AuthenticationToken',
  type: 'authentication-tokens',
  description: 'A token that authenticates requests of a user, team, organization, agent pool or run.',
  noun: 'token',
  exampleId: 'at-6bLq9TzNw4XcVk2R',
  attributes: {
    'created-at': timestamp(),
    'last-used-at': timestamp()
      .nullable()
      .meta({ examples: [null] }),
    description: exampleText('CI').nullable(),
    token: z
      .string()
      .nullable()
      .meta({
        description: 'The token itself. Only the response that creates the token contains it.',
        examples: [null],
      }),
    'expired-at': timestamp('When the token expires. Null if it never expires.').nullable(),
    access: z
      .enum(TOKEN_ACCESS)
      .optional()
      .meta({
        description:
          'What the token may do at most: everything that its owner may do, read it, or read audit trails only. Only tokens of users have it.',
        examples: ['full'],
      }),
  },
  relationships: {
    'created-by': related.one('users', 'teams', 'organizations', 'agent-pools', 'workload-identities'),
    organization: related.one('organizations').optional().meta({
      description:
        'The only organization in which the token has access. Null for all organizations of its owner. Only tokens of users have it.',
    }),
    team: related.always('teams').optional().meta({ description: 'Only tokens of teams have it.' }),
  },
});

const AUTHENTICATION_TOKENS = {
  name: 'Authentication tokens',
  description: 'Tokens of users, teams, organizations and agent pools, and for SCIM.',
  resource: authenticationTokenSchema,
  idName: 'Token',
};

const DESCRIPTION = 'Only this answer contains the token itself. The server stores a hash of it.';

const WITH_DESCRIPTION = { data: { type: 'authentication-tokens', attributes: { description: 'CI' } } };
const WITH_EXPIRY = {
  data: { type: 'authentication-tokens', attributes: { 'expired-at': '2099-01-31T12:00:00.000Z' } },
};

const RESTRICTIONS =
  'With `access`, the token can do less than its owner: `read-only` changes nothing, and `audit-only` only reads audit trails. ' +
  'With the relationship `organization`, which has the name of one of the organizations of its owner, the token has no access to ' +
  'other organizations and to the site. A restricted token creates no tokens.';
const RESTRICTED = {
  data: {
    type: 'authentication-tokens',
    attributes: { description: 'Inventory', access: 'read-only' },
    relationships: { organization: { data: { type: 'organizations', id: 'acme' } } },
  },
} as const;

const list = { query: pageParameters(LIST_SIZE) };

const create = {
  description: DESCRIPTION,
  refusals: {
    unprocessable:
      'An attribute is not valid, the organization allows shorter lifetimes only, or the owner has the largest number of tokens.',
  },
} satisfies OperationDescription;

const replace = {
  ...create,
  description: `The answer contains a new token, and the server deletes the previous one. ${DESCRIPTION}`,
  events: ['AuthenticationTokenCreated', 'AuthenticationTokenDestroyed'],
} satisfies OperationDescription;

const ofOrganization = {
  query: {
    token: parameter.choice(
      ORGANIZATION_TOKENS,
      '`audit-trails` means the token that reads the audit trail only. The default is the token of the organization.',
    ),
  },
} satisfies OperationDescription;

export const authenticationTokensOperations = describeController(
  AuthenticationTokensController,
  AUTHENTICATION_TOKENS,
  {
    listOfUser: list,
    createOfUser: {
      ...create,
      description: `${DESCRIPTION} ${RESTRICTIONS}`,
      body: describeOptionalBody(userBody, RESTRICTED),
      refusals: {
        unprocessable: `${create.refusals.unprocessable} The owner of the token is no member of its organization.`,
      },
    },
    listOfTeam: list,
    createOfTeam: {
      ...create,
      body: describeBody(teamBody, WITH_DESCRIPTION),
      refusals: {
        unprocessable: `${create.refusals.unprocessable} Each token of a team needs another description.`,
      },
    },
    showOnlyOfTeam: {
      operationId: 'getTeamToken',
      summary: 'Show the token of a team that has no description',
    },
    replaceOfTeam: {
      ...replace,
      summary: 'Create or replace the token of a team that has no description',
      body: describeOptionalBody(onlyTokenBody, WITH_EXPIRY),
    },
    destroyOnlyOfTeam: {
      operationId: 'deleteTeamToken',
      summary: 'Delete the token of a team that has no description',
    },
    listOfTeams: {
      operationId: 'listOrganizationTeamTokens',
      summary: 'List the team tokens of an organization',
      description: 'The list has the tokens that you may manage.',
      query: {
        ...sortParameter(TEAM_TOKEN_SORTS, 'The order of the list. The default is `expired-at`.'),
        q: parameter.text('Only tokens of teams with this text in their name, ignoring case.'),
      },
    },
    listOfAgentPool: list,
    createOfAgentPool: { ...create, body: describeBody(agentBody, WITH_DESCRIPTION) },
    listOfScim: { ...list, summary: 'List the tokens for SCIM' },
    createOfScim: {
      ...create,
      summary: 'Create a token for SCIM',
      description: `An identity provider provisions users and groups with the token, which can do nothing else. ${DESCRIPTION}`,
      body: describeBody(agentBody, WITH_DESCRIPTION),
    },
    showOfOrganization: { ...ofOrganization, summary: 'Show the token of an organization' },
    replaceOfOrganization: {
      ...replace,
      ...ofOrganization,
      summary: 'Create or replace the token of an organization',
      body: describeOptionalBody(body, WITH_DESCRIPTION),
    },
    destroyOfOrganization: { ...ofOrganization, summary: 'Delete the token of an organization' },
    show: { operationId: 'getAuthenticationToken' },
    destroy: { operationId: 'deleteAuthenticationToken' },
  },
);
