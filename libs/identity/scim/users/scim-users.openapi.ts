import { z } from 'zod';
import { type BodyDescription, describeController } from '#api/json-api/description';
import { scimUserBody, scimPatchBody } from '../protocol/scim-bodies.js';
import {
  attributeParameters,
  EXAMPLE_URL,
  exampleList,
  pageParameters,
  SCIM,
  scimAnswer,
  scimListSchema,
} from '../protocol/scim-protocol.openapi.js';
import { USER_SCHEMA, SCIM_JSON } from '../protocol/scim-schemas.js';
import { ScimUsersController } from './scim-users.controller.js';

const scimUserSchema = z.strictObject({
  schemas: z.array(z.literal(USER_SCHEMA)).optional(),
  id: z.string().optional(),
  externalId: z.string().optional(),
  userName: z.string().optional(),
  displayName: z.string().optional(),
  active: z.boolean().optional(),
  emails: z.array(z.strictObject({ value: z.string(), type: z.string(), primary: z.boolean() })).optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
});

const example = {
  schemas: [USER_SCHEMA],
  id: 'user-8Xc3kYb2TqLw9RfZ',
  externalId: '00u1',
  userName: 'ada@acme.test',
  displayName: 'ada',
  active: true,
  emails: [{ value: 'ada@acme.test', type: 'work', primary: true }],
  meta: {
    resourceType: 'User',
    created: '2026-01-02T03:04:05.678Z',
    lastModified: '2026-01-02T03:04:05.678Z',
    location: `${EXAMPLE_URL}/Users/user-8Xc3kYb2TqLw9RfZ`,
  },
};

const answer = scimAnswer(scimUserSchema, example);
const group = {
  ...SCIM,
  idName: 'ScimUser',
  path: { id: { description: 'The id of the user.', example: 'user-8Xc3kYb2TqLw9RfZ' } },
};
const conflict = 'Another user has the user name or the address.';
const ended = ['UserSuspended', 'AuthenticationTokenDestroyed', 'SessionEnded'];
/** Events of an account that ends because only an invitation to the address has created it. */
const endedInvitation = ['MembershipRemoved', 'TeamMemberRemoved', 'UserForgotten'];
const lastOwner = 'An attribute is not valid, or the user to suspend is the last active owner of an organization.';
const changed = {
  refusals: { conflict, 'bad-request': lastOwner },
  events: ['UserUpdated', 'UserUnsuspended', 'ScimUserUpdated', ...ended, ...endedInvitation],
};
const body: BodyDescription = {
  schema: scimUserBody,
  mediaType: SCIM_JSON,
  example: {
    userName: 'ada@acme.test',
    externalId: '00u1',
    active: true,
    emails: [{ value: 'ada@acme.test', primary: true }],
  },
};
export const scimUsersOperations = describeController(ScimUsersController, group, {
  list: {
    summary: 'List the users that the identity provider manages',
    query: {
      filter: z
        .string()
        .optional()
        .meta({ description: 'A filter (RFC 7644 §3.4.2.2), such as `userName eq "ada@acme.test"`.' }),
      ...pageParameters,
      ...attributeParameters,
    },
    answer: scimAnswer(scimListSchema(scimUserSchema), exampleList([example])),
  },
  create: {
    summary: 'Create a user for the identity provider',
    query: attributeParameters,
    body,
    answer,
    refusals: { conflict },
    description:
      'The server creates a user, or gives back the user that SCIM has deleted with the same user name. It takes over ' +
      'the account that only an invitation to the address has created, and no other user.',
    events: [
      'UserCreated',
      'UserConfirmed',
      'UserSuspended',
      'UserUpdated',
      'UserUnsuspended',
      'ScimUserProvisioned',
      ...endedInvitation,
    ],
  },
  show: {
    summary: 'Show a user to the identity provider',
    query: attributeParameters,
    answer,
  },
  replace: {
    summary: 'Replace a user for the identity provider',
    query: attributeParameters,
    body,
    answer,
    ...changed,
  },
  patch: {
    summary: 'Change a user for the identity provider',
    query: attributeParameters,
    body: {
      schema: scimPatchBody,
      mediaType: SCIM_JSON,
      example: { Operations: [{ op: 'replace', path: 'active', value: false }] },
    },
    answer,
    ...changed,
  },
  delete: {
    summary: 'Delete a user for the identity provider',
    description:
      'The server suspends the user, ends tokens and sessions, and removes the user from groups and their teams. If the ' +
      'identity provider creates a user with the same user name later, the user comes back with the same id.',
    refusals: { 'bad-request': lastOwner },
    events: [...ended, 'ScimUserUpdated', 'ScimGroupMembersChanged', 'TeamMemberRemoved', 'ScimUserDeprovisioned'],
  },
});
