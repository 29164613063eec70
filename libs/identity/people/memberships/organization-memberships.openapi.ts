import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  parameter,
  related,
  timestamp,
} from '#api/json-api/description';
import { MEMBERSHIP_STATUSES } from './membership.js';
import {
  invitationBody,
  MEMBERSHIP_INCLUDES,
  OrganizationMembershipsController,
} from './organization-memberships.controller.js';

export const organizationMembershipSchema = defineResource({
  name: 'OrganizationMembership',
  type: 'organization-memberships',
  description: 'A user as member of an organization, or the invitation of a user.',
  noun: 'membership',
  exampleId: 'ou-4wXk7RcTn9QzLb5V',
  attributes: {
    status: z.enum(MEMBERSHIP_STATUSES).meta({ examples: ['active'] }),
    email: exampleText('ada@acme.test', 'Empty for users without an address.'),
    'created-at': timestamp(),
    'last-active-at': timestamp(
      'When the person was last active in the organization, to the minute: the time of the last event of the organization that a ' +
        'request of the person led to, with a session or a token of the person. Changes and recorded reads are events. Other reads, ' +
        'signing in, and facts of other services do not count. Null if there is no such event, and for invitations. Only callers ' +
        'that may manage memberships get it. It can be some seconds late.',
    )
      .nullable()
      .optional(),
  },
  relationships: {
    organization: related.always('organizations'),
    user: related.always('users'),
    teams: related.many('teams'),
  },
  hasSelfLink: true,
});

const ORGANIZATION_MEMBERSHIPS = {
  name: 'Organization memberships',
  description: 'Members of organizations, and invitations.',
  resource: organizationMembershipSchema,
  include: { values: MEMBERSHIP_INCLUDES, resources: ['User', 'Team', 'Organization'] },
};

const status = {
  'filter[status]': parameter.choice(MEMBERSHIP_STATUSES, 'Only memberships with this status.'),
};

export const organizationMembershipsOperations = describeController(
  OrganizationMembershipsController,
  ORGANIZATION_MEMBERSHIPS,
  {
    list: {
      summary: 'List the members of an organization',
      query: {
        ...status,
        q: parameter.text('Only members with this text in their name or address, ignoring case.'),
        'filter[email]': parameter.list('Only members with one of these addresses, ignoring case.'),
      },
    },
    invite: {
      operationId: 'inviteOrganizationMember',
      summary: 'Invite a person to an organization',
      description:
        'The server sends no mail. It creates an account if no account has the address. The answer includes the user.',
      body: describeResourceBody(
        invitationBody,
        { email: 'ada@acme.test' },
        { teams: { data: [{ type: 'teams', id: 'team-3kPz8WvQy5NxTbRc' }] } },
      ),
      include: { ...ORGANIZATION_MEMBERSHIPS.include, values: [] },
      refusals: {
        unprocessable:
          'The address or a team is not valid, the person is a member or invited already, or the site has the largest number of users.',
      },
      events: ['MembershipCreated', 'UserCreated', 'TeamMemberAdded'],
    },
    listOfTeam: {
      operationId: 'listTeamMemberships',
      summary: 'List the members of a team',
      query: status,
    },
    listOwn: {
      operationId: 'listOwnMemberships',
      summary: 'List the memberships and invitations of the caller',
    },
    show: {},
    destroy: {
      summary: 'Remove a member, leave an organization, or decline an invitation',
      description: 'The server removes the user from the teams of the organization too.',
      refusals: { unprocessable: 'The user is the last active owner of the organization.' },
    },
    accept: {
      summary: 'Accept an invitation',
      description: 'The invited user or a site administrator accepts it. An accepted invitation stays accepted.',
    },
  },
);
