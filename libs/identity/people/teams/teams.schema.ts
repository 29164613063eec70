import { z } from 'zod';
import { ORGANIZATION_ACCESS } from '#api/access';
import {
  always,
  count,
  defineResource,
  exampleText,
  permissionFlags,
  relatedAlways,
  relatedLink,
  relatedMany,
  serverPath,
} from '#api/json-api/description';
import { toAttributeName } from '#platform/kernel';
import { VISIBILITIES } from './team.js';

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
    organization: relatedAlways('organizations'),
    users: relatedMany('users'),
    'organization-memberships': relatedMany('organization-memberships'),
    'authentication-token': relatedLink(),
  },
  links: { self: serverPath('/api/v2/teams/team-3kPz8WvQy5NxTbRc') },
});
