import { z } from 'zod';
import {
  always,
  defineResource,
  exampleText,
  permissionFlags,
  relatedLink,
  serverPath,
} from '#api/json-api/description';

const address = exampleText('ada@acme.test').nullable();

export const userSchema = defineResource({
  name: 'User',
  type: 'users',
  description: 'An account: a person, or the service account of a token of a team, an organization or an agent pool.',
  exampleId: 'user-8Xc3kYb2TqLw9RfZ',
  attributes: {
    username: exampleText('ada'),
    email: address.meta({ description: 'Null for service accounts, and for users without an address.' }),
    'unconfirmed-email': address.meta({
      description: 'A new address that a site administrator has not confirmed. Null if you may not see it.',
      examples: [null],
    }),
    'is-service-account': z.boolean(),
    'is-site-admin': z.boolean(),
    'is-admin': z.boolean().meta({ description: 'The same as `is-site-admin`.' }),
    'is-suspended': z
      .boolean()
      .meta({ description: 'Whether the user cannot sign in. Suspended users have no tokens.' }),
    'avatar-url': serverPath('/api/v2/users/user-8Xc3kYb2TqLw9RfZ/avatar'),
    'two-factor': z.strictObject({ enabled: always(false), verified: always(false) }),
    'is-sso-login': always(false),
    'v2-only': always(true),
    permissions: permissionFlags(
      'can-create-organizations',
      'can-change-email',
      'can-change-username',
      'can-manage-user-tokens',
    ),
  },
  relationships: { 'authentication-tokens': relatedLink() },
  links: { self: serverPath('/api/v2/users/user-8Xc3kYb2TqLw9RfZ') },
});
