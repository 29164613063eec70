import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describeFile,
} from '#api/json-api/description';
import { AvatarsController } from './avatars.controller.js';
import { updateBody, UsersController } from './users.controller.js';

const USERS = { name: 'Users', description: 'Accounts of the site.' };

export const usersOperations = describeController(UsersController, USERS, {
  account: {
    operationId: 'getAccountDetails',
    summary: 'Show the account of the caller',
    description:
      'For tokens of teams, organizations and agent pools, the document is a service account with that name.',
    answer: describeDocument('User'),
  },
  update: {
    operationId: ['updateAccount', 'updateAccountDetails'],
    summary: 'Change the account of the caller',
    description:
      'A new `email` becomes the `unconfirmed-email`. It becomes the `email` at once if the caller is a site administrator.',
    body: describeBody(updateBody, { data: { type: 'users', attributes: { username: 'ada' } } }),
    answer: describeDocument('User'),
    refusals: { unprocessable: 'An attribute is not valid, or another account has the username or the address.' },
    events: ['UserUpdated'],
  },
  show: { operationId: 'getUser', summary: 'Show a user', answer: describeDocument('User') },
  suspend: {
    operationId: 'suspendUser',
    summary: 'Suspend a user',
    description:
      'The server ends all tokens and sessions of the user and refuses new ones. The user keeps memberships and teams. ' +
      'Suspending a suspended user changes nothing.',
    answer: describeDocument('User'),
    refusals: {
      unprocessable: 'The user is the last active owner of an organization, or the last administrator of the site.',
    },
    events: ['UserSuspended', 'AuthenticationTokenDestroyed', 'SessionEnded'],
  },
  unsuspend: {
    operationId: 'unsuspendUser',
    summary: 'End the suspension of a user',
    description: 'The user can have tokens again. Ended tokens stay ended.',
    answer: describeDocument('User'),
    events: ['UserUnsuspended'],
  },
  forget: {
    operationId: 'forgetUser',
    summary: 'Forget a user',
    description:
      'The server ends the memberships, teams and tokens of the user, and erases the name and the addresses. ' +
      'The audit trail keeps the actions of the user under the id.',
    answer: describeEmpty(),
    refusals: {
      unprocessable: 'The user is the last active owner of an organization, or the last administrator of the site.',
    },
    events: ['UserForgotten', 'MembershipRemoved', 'TeamMemberRemoved', 'AuthenticationTokenDestroyed'],
  },
});

export const avatarsOperations = describeController(AvatarsController, USERS, {
  show: {
    operationId: 'getUserAvatar',
    summary: 'Show the avatar of a user',
    description: 'The server draws the image from the id. An id without an account has an image too.',
    answer: describeFile('image/svg+xml', { description: 'The image.' }),
  },
});
