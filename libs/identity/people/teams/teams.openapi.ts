import { z } from 'zod';
import { ORGANIZATION_ACCESS } from '#api/access';
import {
  always,
  count,
  defineResource,
  describeBody,
  describeController,
  describeResourceBody,
  exampleText,
  parameter,
  permissionFlags,
  related,
} from '#api/json-api/description';
import { toAttributeName } from '#platform/kernel';
import { VISIBILITIES } from './team.js';
import { createBody, memberBodies, TEAM_INCLUDES, TeamsController, updateBody } from './teams.controller.js';

const organizationAccess = z
  .strictObject(Object.fromEntries(ORGANIZATION_ACCESS.map((right) => [toAttributeName(right), z.boolean()])))
  .meta({ description: 'What the members of the team may do in the whole organization.' });

export const teamSchema = defineResource({
  name: 'Team',
  type: 'teams',
  description: 'A team of members of an organization, through which they get access.',
  exampleId: 'team-3kPz8WvQy5NxTbRc',
  attributes: {
    name: exampleText('platform'),
    'is-unified': always(false),
    'sso-team-id': z.string().nullable(),
    'users-count': count('The number of members.'),
    visibility: z.enum(VISIBILITIES).meta({
      description: 'Secret teams are visible to their members and to callers that may see all secret teams.',
    }),
    'allow-member-token-management': z
      .boolean()
      .meta({ description: 'Whether members may manage the tokens of the team.', examples: [true] }),
    'organization-access': organizationAccess,
    permissions: permissionFlags(
      'can-update-membership',
      'can-destroy',
      'can-update-organization-access',
      'can-update-api-token',
      'can-update-visibility',
    ),
  },
  relationships: {
    organization: related.always('organizations'),
    users: related.many('users'),
    'organization-memberships': related.many('organization-memberships'),
    'authentication-token': related.link(),
  },
  hasSelfLink: true,
});

const TEAMS = {
  name: 'Teams',
  description: 'Teams of organizations, and their members.',
  resource: teamSchema,
  include: { values: TEAM_INCLUDES, resources: ['User', 'OrganizationMembership'], events: ['PeopleListed'] },
};

const users = describeBody(memberBodies.users, { data: [{ type: 'users', id: 'ada' }] });
const memberships = describeBody(memberBodies['organization-memberships'], {
  data: [{ type: 'organization-memberships', id: 'ou-4wXk7RcTn9QzLb5V' }],
});

const addRefusals = { unprocessable: 'The body is not valid, or a user is not a member of the organization.' };

const removeRefusals = {
  unprocessable: 'The body is not valid, or the organization would lose its last active owner.',
};

const USERNAMES = 'The ids in the body are usernames.';

export const teamsOperations = describeController(TeamsController, TEAMS, {
  list: {
    description: 'The list has the teams that you may see.',
    query: {
      q: parameter.text('Only teams with this text in their name, ignoring case.'),
      'filter[names]': parameter.list('Only teams with one of these names.'),
    },
  },
  create: {
    description: 'A team is secret if the body has no `visibility`.',
    body: describeResourceBody(createBody, {
      name: 'platform',
      visibility: 'organization',
      'organization-access': { 'manage-workspaces': true },
    }),
    refusals: {
      unprocessable:
        'An attribute is not valid, a team of the organization has the name, or 100 teams have an `sso-team-id`.',
    },
  },
  show: {},
  update: {
    description: 'Rights in `organization-access` that the body does not have stay unchanged.',
    body: describeResourceBody(updateBody, { name: 'platform' }),
    refusals: {
      unprocessable:
        'An attribute is not valid, a team of the organization has the name, or the owners team does not allow the change.',
    },
  },
  destroy: {
    description: 'The server deletes the tokens of the team too.',
    refusals: { unprocessable: 'The team is the owners team.' },
    events: ['TeamDeleted', 'AuthenticationTokenDestroyed'],
  },
  addUsers: {
    operationId: 'addTeamUsers',
    summary: 'Add users to a team',
    description: USERNAMES,
    body: users,
    refusals: addRefusals,
  },
  removeUsers: {
    operationId: 'removeTeamUsers',
    summary: 'Remove users from a team',
    description: USERNAMES,
    body: users,
    refusals: removeRefusals,
  },
  addMemberships: {
    operationId: 'addTeamMemberships',
    summary: 'Add members of the organization to a team',
    body: memberships,
    refusals: addRefusals,
  },
  removeMemberships: {
    operationId: 'removeTeamMemberships',
    summary: 'Remove members of the organization from a team',
    body: memberships,
    refusals: removeRefusals,
  },
});
