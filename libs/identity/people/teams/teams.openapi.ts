import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  includeParameter,
  listParameter,
  pageParameters,
  textParameter,
  type OperationDescription,
} from '#api/json-api/description';
import { createBody, memberBodies, TEAM_INCLUDES, TeamsController, updateBody } from './teams.controller.js';

const TEAMS = { name: 'Teams', description: 'Teams of organizations, and their members.' };

/** Names of the resources that `include` can add. */
const included = ['User', 'OrganizationMembership'];

/** The server records that members were listed if the document includes them. */
const events = ['PeopleListed'];

const users = describeBody(memberBodies.users, { data: [{ type: 'users', id: 'ada' }] });
const memberships = describeBody(memberBodies['organization-memberships'], {
  data: [{ type: 'organization-memberships', id: 'ou-4wXk7RcTn9QzLb5V' }],
});

const add = {
  answer: describeEmpty(),
  refusals: { unprocessable: 'The body is not valid, or a user is not a member of the organization.' },
} satisfies Partial<OperationDescription>;

const remove = {
  answer: describeEmpty(),
  refusals: { unprocessable: 'The body is not valid, or the organization would lose its last active owner.' },
} satisfies Partial<OperationDescription>;

const USERNAMES = 'The ids in the body are usernames.';

export const teamsOperations = describeController(TeamsController, TEAMS, {
  list: {
    operationId: 'listTeams',
    summary: 'List the teams of an organization',
    description: 'The list has the teams that you may see.',
    query: {
      ...pageParameters(),
      ...includeParameter(TEAM_INCLUDES),
      q: textParameter('Only teams with this text in their name, ignoring case.'),
      'filter[names]': listParameter('Only teams with one of these names.'),
    },
    answer: describePage('Team', { included }),
    events,
  },
  create: {
    operationId: 'createTeam',
    summary: 'Create a team',
    description: 'A team is secret if the body has no `visibility`.',
    body: describeBody(createBody, {
      data: {
        type: 'teams',
        attributes: {
          name: 'platform',
          visibility: 'organization',
          'organization-access': { 'manage-workspaces': true },
        },
      },
    }),
    answer: describeDocument('Team'),
    refusals: {
      unprocessable:
        'An attribute is not valid, a team of the organization has the name, or 100 teams have an `sso-team-id`.',
    },
  },
  show: {
    operationId: 'getTeam',
    summary: 'Show a team',
    query: includeParameter(TEAM_INCLUDES),
    answer: describeDocument('Team', { included }),
    events,
  },
  update: {
    operationId: 'updateTeam',
    summary: 'Change a team',
    description: 'Rights in `organization-access` that the body does not have stay unchanged.',
    body: describeBody(updateBody, { data: { type: 'teams', attributes: { name: 'platform' } } }),
    answer: describeDocument('Team'),
    refusals: {
      unprocessable:
        'An attribute is not valid, a team of the organization has the name, or the owners team does not allow the change.',
    },
  },
  destroy: {
    operationId: 'deleteTeam',
    summary: 'Delete a team',
    description: 'The server deletes the tokens of the team too.',
    answer: describeEmpty(),
    refusals: { unprocessable: 'The team is the owners team.' },
    events: ['TeamDeleted', 'AuthenticationTokenDestroyed'],
  },
  addUsers: {
    ...add,
    operationId: 'addTeamUsers',
    summary: 'Add users to a team',
    description: USERNAMES,
    body: users,
  },
  removeUsers: {
    ...remove,
    operationId: 'removeTeamUsers',
    summary: 'Remove users from a team',
    description: USERNAMES,
    body: users,
  },
  addMemberships: {
    ...add,
    operationId: 'addTeamMemberships',
    summary: 'Add members of the organization to a team',
    body: memberships,
  },
  removeMemberships: {
    ...remove,
    operationId: 'removeTeamMemberships',
    summary: 'Remove members of the organization from a team',
    body: memberships,
  },
});
