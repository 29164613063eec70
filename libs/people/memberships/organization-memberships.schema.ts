import { z } from 'zod';
import { defineResource, exampleText, relatedAlways, relatedMany, serverPath, timestamp } from '#json-api/description';
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
  },
  relationships: {
    organization: relatedAlways('organizations'),
    user: relatedAlways('users'),
    teams: relatedMany('teams'),
  },
  links: { self: serverPath('/api/v2/organization-memberships/ou-4wXk7RcTn9QzLb5V') },
});
