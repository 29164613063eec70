import { z } from 'zod';
import {
  always,
  defineResource,
  describeController,
  exampleText,
  parameter,
  permissionFlags,
  related,
  serverPath,
  timestamp,
} from '#api/json-api/description';
import { AdminUsersController } from './admin-users.controller.js';

const ID = 'user-8Xc3kYb2TqLw9RfZ';

const address = exampleText('ada@acme.test').nullable();

export const administeredUserSchema = defineResource({
  name: 'AdministeredUser',
  type: 'users',
  description: 'A user as site administrators see it.',
  noun: 'user',
  exampleId: ID,
  attributes: {
    username: exampleText('ada'),
    email: address,
    'unconfirmed-email': address.meta({ description: 'A new address that nobody has confirmed.', examples: [null] }),
    'is-service-account': always(false),
    'is-site-admin': z.boolean().meta({ description: 'Whether the user administers the site.' }),
    'is-admin': z.boolean().meta({ description: 'The same as `is-site-admin`.' }),
    'is-suspended': z
      .boolean()
      .meta({ description: 'Whether the user cannot sign in. Suspended users have no tokens.' }),
    'avatar-url': serverPath(`/api/v2/users/${ID}/avatar`),
    'created-at': timestamp(),
    'is-sso-login': always(false),
    'v2-only': always(true),
    permissions: permissionFlags(
      'can-create-organizations',
      'can-change-email',
      'can-change-username',
      'can-manage-user-tokens',
    ),
    'two-factor': z.strictObject({
      enabled: z.boolean().meta({ description: 'Whether the user has one-time codes or a passkey.' }),
      verified: z.boolean().meta({ description: 'The same as `enabled`.' }),
    }),
  },
  relationships: {
    'authentication-tokens': related.link(),
    organizations: related.many('organizations').meta({
      description: 'The organizations in which the user is an active member.',
    }),
  },
  hasSelfLink: true,
});

const LAST = 'The user is the last active owner of an organization, or the last administrator of the site.';

export const adminUsersOperations = describeController(
  AdminUsersController,
  { name: 'Users', description: 'Accounts of the site.', resource: administeredUserSchema, idName: 'SiteUser' },
  {
    list: {
      summary: 'List all users as a site administrator',
      query: {
        q: parameter.text('Only users with this text in their username or address, ignoring case.'),
        'filter[admin]': parameter.text('`true`: only site administrators. `false`: only other users.'),
        'filter[suspended]': parameter.text('`true`: only suspended users. `false`: only other users.'),
      },
    },
    suspend: {
      operationId: 'suspendUser',
      description:
        'The server ends all tokens and sessions of the user and refuses new ones. The user keeps memberships and teams. ' +
        'Suspending a suspended user changes nothing.',
      refusals: { unprocessable: LAST },
      events: ['UserSuspended', 'AuthenticationTokenDestroyed', 'SessionEnded'],
    },
    unsuspend: {
      operationId: 'unsuspendUser',
      summary: 'End the suspension of a user',
      description: 'The user can have tokens again. Ended tokens stay ended.',
      events: ['UserUnsuspended'],
    },
    grantAdmin: {
      operationId: 'grantSiteAdmin',
      summary: 'Make a user an administrator of the site',
      description:
        'The user gets access to all organizations, users and settings of the site. Granting it again changes nothing.',
      refusals: { unprocessable: 'The user is suspended, or is invited and has not used the account yet.' },
      events: ['SiteAdminGranted'],
    },
    revokeAdmin: {
      operationId: 'revokeSiteAdmin',
      summary: 'Make an administrator of the site an ordinary user',
      description: 'The user keeps memberships, teams and tokens. Revoking it again changes nothing.',
      refusals: { unprocessable: 'The user is the last administrator of the site.' },
      events: ['SiteAdminRevoked'],
    },
    disableTwoFactor: {
      operationId: 'disableTwoFactor',
      summary: 'Remove the second factors of a user',
      description:
        'The server removes one-time codes, recovery codes and passkeys, and ends all sessions of the user. The user ' +
        'signs in with the password or an identity provider.',
      refusals: { unprocessable: 'The user has no other way to sign in.' },
      events: ['TotpDisabled', 'PasskeyRemoved', 'SessionEnded'],
    },
    forget: {
      operationId: 'forgetUser',
      summary: 'Forget a user',
      description:
        'The server ends the memberships, teams and tokens of the user, and erases the name and the addresses. ' +
        'The audit trail keeps the actions of the user under the id.',
      refusals: { unprocessable: LAST },
      events: ['UserForgotten', 'MembershipRemoved', 'TeamMemberRemoved', 'AuthenticationTokenDestroyed'],
    },
  },
);
