import { z } from 'zod';
import { describeController, describeEmpty, type BodyDescription } from '#json-api/description';
import { scimUserBody, scimPatchBody } from '../protocol/scim-bodies.js';
import { SCIM, scimAnswer, scimListSchema, scimOperation } from '../protocol/scim-protocol.openapi.js';
import { USER_SCHEMA, LIST_SCHEMA, SCIM_JSON } from '../protocol/scim-schemas.js';
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
    location: '/scim/v2/Users/user-8Xc3kYb2TqLw9RfZ',
  },
};

const answer = scimAnswer(scimUserSchema, example);
const shared = {
  ...scimOperation,
  path: { id: { description: 'The id of the user.', example: 'user-8Xc3kYb2TqLw9RfZ' } },
};
const conflict = 'Another account has the user name or the address.';
const events = ['UserUpdated', 'UserSuspended', 'UserUnsuspended', 'ScimUserUpdated'];
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
const attributes = {
  attributes: z.string().optional().meta({ description: 'Names of attributes, with commas. Others are left out.' }),
  excludedAttributes: z.string().optional().meta({ description: 'Names of attributes to leave out, with commas.' }),
};

export const scimUsersOperations = describeController(ScimUsersController, SCIM, {
  list: {
    ...scimOperation,
    operationId: 'listScimUsers',
    summary: 'List the users that the identity provider manages',
    query: {
      filter: z
        .string()
        .optional()
        .meta({ description: 'A filter (RFC 7644 §3.4.2.2), such as `userName eq "ada@acme.test"`.' }),
      startIndex: z.int().optional().meta({ description: 'The number of the first user, from 1.' }),
      count: z.int().optional().meta({ description: 'The size of the page, at most 100.' }),
      ...attributes,
    },
    answer: scimAnswer(scimListSchema(scimUserSchema), {
      schemas: [LIST_SCHEMA],
      totalResults: 1,
      startIndex: 1,
      itemsPerPage: 1,
      Resources: [example],
    }),
  },
  create: {
    ...scimOperation,
    operationId: 'createScimUser',
    summary: 'Create a user for the identity provider',
    body,
    answer,
    refusals: { conflict },
    events: ['UserCreated', 'ScimUserProvisioned'],
  },
  show: {
    ...shared,
    operationId: 'getScimUser',
    summary: 'Show a user to the identity provider',
    query: attributes,
    answer,
  },
  replace: {
    ...shared,
    operationId: 'replaceScimUser',
    summary: 'Replace a user for the identity provider',
    body,
    answer,
    refusals: { conflict },
    events,
  },
  patch: {
    ...shared,
    operationId: 'patchScimUser',
    summary: 'Change a user for the identity provider',
    body: {
      schema: scimPatchBody,
      mediaType: SCIM_JSON,
      example: { Operations: [{ op: 'replace', path: 'active', value: false }] },
    },
    answer,
    refusals: { conflict },
    events,
  },
  delete: {
    ...shared,
    operationId: 'deleteScimUser',
    summary: 'Delete a user for the identity provider',
    description:
      'The server suspends the account and ends its tokens and sessions. A user with the same name that is created later gets the account back.',
    answer: describeEmpty(),
    events: ['UserSuspended', 'AuthenticationTokenDestroyed', 'SessionEnded', 'ScimUserDeprovisioned'],
  },
});
