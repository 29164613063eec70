import { z } from 'zod';
import {
  always,
  defineResource,
  describeController,
  describeFile,
  describeResourceBody,
  exampleText,
  permissionFlags,
  related,
  serverPath,
} from '#api/json-api/description';
import { AvatarsController } from './avatars.controller.js';
import { updateBody, UsersController } from './users.controller.js';

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
  relationships: { 'authentication-tokens': related.link() },
  hasSelfLink: true,
});

const USERS = { name: 'Users', description: 'Accounts of the site.' };

export const usersOperations = describeController(
  UsersController,
  { ...USERS, resource: userSchema },
  {
    account: {
      operationId: 'getAccountDetails',
      summary: 'Show the account of the caller',
      description:
        'For tokens of teams, organizations and agent pools, the document is a service account with that name.',
    },
    update: {
      operationId: ['updateAccount', 'updateAccountDetails'],
      summary: 'Change the account of the caller',
      description:
        'A new `email` becomes the `unconfirmed-email`. It becomes the `email` at once if the caller is a site administrator.',
      body: describeResourceBody(updateBody, { username: 'ada' }),
      refusals: { unprocessable: 'An attribute is not valid, or another account has the username or the address.' },
    },
    show: {},
  },
);

export const avatarsOperations = describeController(AvatarsController, USERS, {
  show: {
    operationId: 'getUserAvatar',
    summary: 'Show the avatar of a user',
    description: 'The server draws the image from the id. An id without an account has an image too.',
    answer: describeFile('image/svg+xml', { description: 'The image.' }),
  },
});
