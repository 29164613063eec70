import { z } from 'zod';
import {
  defineResource,
  exampleText,
  relatedAlways,
  relatedMany,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { MEMBERSHIP_STATUSES } from './membership.js';

export const organizationMembershipSchema = defineResource({
  name: 'OrganizationMembership',
  type: 'organization-memberships',
  description: 'A user as member of an organization, or the invitation of a user.',
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
    organization: relatedAlways('organizations'),
    user: relatedAlways('users'),
    teams: relatedMany('teams'),
  },
  links: { self: serverPath('/api/v2/organization-memberships/ou-4wXk7RcTn9QzLb5V') },
});
