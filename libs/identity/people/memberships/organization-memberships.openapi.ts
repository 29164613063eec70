import {
  choiceParameter,
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  includeParameter,
  listParameter,
  pageParameters,
  textParameter,
} from '#api/json-api/description';
import { MEMBERSHIP_STATUSES } from './membership.js';
import {
  invitationBody,
  MEMBERSHIP_INCLUDES,
  OrganizationMembershipsController,
} from './organization-memberships.controller.js';

const ORGANIZATION_MEMBERSHIPS = {
  name: 'Organization memberships',
  description: 'Members of organizations, and invitations.',
};

/** Names of the resources that `include` can add. */
const included = ['User', 'Team', 'Organization'];

const status = {
  'filter[status]': choiceParameter(MEMBERSHIP_STATUSES, 'Only memberships with this status.'),
};

const page = { ...pageParameters(), ...includeParameter(MEMBERSHIP_INCLUDES) };

export const organizationMembershipsOperations = describeController(
  OrganizationMembershipsController,
  ORGANIZATION_MEMBERSHIPS,
  {
    list: {
      operationId: 'listOrganizationMemberships',
      summary: 'List the members of an organization',
      query: {
        ...page,
        ...status,
        q: textParameter('Only members with this text in their name or address, ignoring case.'),
        'filter[email]': listParameter('Only members with one of these addresses, ignoring case.'),
      },
      answer: describePage('OrganizationMembership', { included }),
    },
    invite: {
      operationId: 'inviteOrganizationMember',
      summary: 'Invite a person to an organization',
      description:
        'The server sends no mail. It creates an account if no account has the address. The answer includes the user.',
      body: describeBody(invitationBody, {
        data: {
          type: 'organization-memberships',
          attributes: { email: 'ada@acme.test' },
          relationships: { teams: { data: [{ type: 'teams', id: 'team-3kPz8WvQy5NxTbRc' }] } },
        },
      }),
      answer: describeDocument('OrganizationMembership', { included }),
      refusals: {
        unprocessable:
          'The address or a team is not valid, the person is a member or invited already, or the site has the largest number of users.',
      },
      events: ['MembershipCreated', 'UserCreated', 'TeamMemberAdded'],
    },
    listOfTeam: {
      operationId: 'listTeamMemberships',
      summary: 'List the members of a team',
      query: { ...page, ...status },
      answer: describePage('OrganizationMembership', { included }),
    },
    listOwn: {
      operationId: 'listOwnMemberships',
      summary: 'List the memberships and invitations of the caller',
      query: page,
      answer: describePage('OrganizationMembership', { included }),
    },
    show: {
      operationId: 'getOrganizationMembership',
      summary: 'Show a membership',
      query: includeParameter(MEMBERSHIP_INCLUDES),
      answer: describeDocument('OrganizationMembership', { included }),
    },
    destroy: {
      operationId: 'deleteOrganizationMembership',
      summary: 'Remove a member, leave an organization, or decline an invitation',
      description: 'The server removes the user from the teams of the organization too.',
      answer: describeEmpty(),
      refusals: { unprocessable: 'The user is the last active owner of the organization.' },
      events: ['MembershipRemoved', 'TeamMemberRemoved'],
    },
    accept: {
      operationId: 'acceptOrganizationMembership',
      summary: 'Accept an invitation',
      description: 'The invited user or a site administrator accepts it. An accepted invitation stays accepted.',
      answer: describeDocument('OrganizationMembership'),
    },
  },
);
