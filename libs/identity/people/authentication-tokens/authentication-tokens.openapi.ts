import {
  choiceParameter,
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describeOptionalBody,
  describePage,
  pageParameters,
  sortParameter,
  textParameter,
  type OperationDescription,
} from '#api/json-api/description';
import { agentBody, body, onlyTokenBody, teamBody, userBody } from './authentication-tokens.body.js';
import { AuthenticationTokensController, LIST_SIZE, ORGANIZATION_TOKENS } from './authentication-tokens.controller.js';
import { TEAM_TOKEN_SORTS } from './authentication-tokens.queries.js';

const AUTHENTICATION_TOKENS = {
  name: 'Authentication tokens',
  description: 'Tokens of users, teams, organizations and agent pools, and for SCIM.',
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

const list = {
  query: pageParameters(LIST_SIZE),
  answer: describePage('AuthenticationToken'),
} satisfies Partial<OperationDescription>;

const show = { answer: describeDocument('AuthenticationToken') } satisfies Partial<OperationDescription>;

const create = {
  description: DESCRIPTION,
  answer: describeDocument('AuthenticationToken'),
  refusals: {
    unprocessable:
      'An attribute is not valid, the organization allows shorter lifetimes only, or the owner has the largest number of tokens.',
  },
} satisfies Partial<OperationDescription>;

const replace = {
  ...create,
  description: `The answer contains a new token, and the server deletes the previous one. ${DESCRIPTION}`,
  events: ['AuthenticationTokenCreated', 'AuthenticationTokenDestroyed'],
} satisfies Partial<OperationDescription>;

const ofOrganization = {
  query: {
    token: choiceParameter(
      ORGANIZATION_TOKENS,
      '`audit-trails` means the token that reads the audit trail only. The default is the token of the organization.',
    ),
  },
} satisfies Partial<OperationDescription>;

export const authenticationTokensOperations = describeController(
  AuthenticationTokensController,
  AUTHENTICATION_TOKENS,
  {
    listOfUser: { ...list, operationId: 'listUserTokens', summary: 'List the tokens of a user' },
    createOfUser: {
      ...create,
      operationId: 'createUserToken',
      summary: 'Create a token of a user',
      description: `${DESCRIPTION} ${RESTRICTIONS}`,
      body: describeOptionalBody(userBody, RESTRICTED),
      refusals: {
        unprocessable: `${create.refusals.unprocessable} The owner of the token is no member of its organization.`,
      },
      events: ['AuthenticationTokenCreated'],
    },
    listOfTeam: { ...list, operationId: 'listTeamTokens', summary: 'List the tokens of a team' },
    createOfTeam: {
      ...create,
      operationId: 'createTeamToken',
      summary: 'Create a token of a team',
      body: describeBody(teamBody, WITH_DESCRIPTION),
      refusals: {
        unprocessable: `${create.refusals.unprocessable} Each token of a team needs another description.`,
      },
    },
    showOnlyOfTeam: {
      ...show,
      operationId: 'getTeamToken',
      summary: 'Show the token of a team that has no description',
    },
    replaceOfTeam: {
      ...replace,
      operationId: 'replaceTeamToken',
      summary: 'Create or replace the token of a team that has no description',
      body: describeOptionalBody(onlyTokenBody, WITH_EXPIRY),
    },
    destroyOnlyOfTeam: {
      operationId: 'deleteTeamToken',
      summary: 'Delete the token of a team that has no description',
      answer: describeEmpty(),
    },
    listOfTeams: {
      operationId: 'listOrganizationTeamTokens',
      summary: 'List the team tokens of an organization',
      description: 'The list has the tokens that you may manage.',
      query: {
        ...pageParameters(),
        ...sortParameter(TEAM_TOKEN_SORTS, 'The order of the list. The default is `expired-at`.'),
        q: textParameter('Only tokens of teams with this text in their name, ignoring case.'),
      },
      answer: describePage('AuthenticationToken'),
    },
    listOfAgentPool: { ...list, operationId: 'listAgentPoolTokens', summary: 'List the tokens of an agent pool' },
    createOfAgentPool: {
      ...create,
      operationId: 'createAgentPoolToken',
      summary: 'Create a token of an agent pool',
      body: describeBody(agentBody, WITH_DESCRIPTION),
    },
    listOfScim: { ...list, operationId: 'listScimTokens', summary: 'List the tokens for SCIM' },
    createOfScim: {
      ...create,
      operationId: 'createScimToken',
      summary: 'Create a token for SCIM',
      description: `An identity provider provisions users and groups with the token, which can do nothing else. ${DESCRIPTION}`,
      body: describeBody(agentBody, WITH_DESCRIPTION),
      events: ['AuthenticationTokenCreated'],
    },
    showOfOrganization: {
      ...show,
      ...ofOrganization,
      operationId: 'getOrganizationToken',
      summary: 'Show the token of an organization',
    },
    replaceOfOrganization: {
      ...replace,
      ...ofOrganization,
      operationId: 'replaceOrganizationToken',
      summary: 'Create or replace the token of an organization',
      body: describeOptionalBody(body, WITH_DESCRIPTION),
    },
    destroyOfOrganization: {
      ...ofOrganization,
      operationId: 'deleteOrganizationToken',
      summary: 'Delete the token of an organization',
      answer: describeEmpty(),
    },
    show: { ...show, operationId: 'getAuthenticationToken', summary: 'Show a token' },
    destroy: { operationId: 'deleteAuthenticationToken', summary: 'Delete a token', answer: describeEmpty() },
  },
);
