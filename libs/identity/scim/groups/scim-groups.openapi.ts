import { z } from 'zod';
import { type BodyDescription, describeController } from '#api/json-api/description';
import { scimGroupBody, scimPatchBody } from '../protocol/scim-bodies.js';
import {
  attributeParameters,
  EXAMPLE_URL,
  exampleList,
  pageParameters,
  SCIM,
  scimAnswer,
  scimListSchema,
} from '../protocol/scim-protocol.openapi.js';
import { GROUP_SCHEMA, SCIM_JSON } from '../protocol/scim-schemas.js';
import { ScimGroupsController } from './scim-groups.controller.js';

const scimGroupSchema = z.strictObject({
  schemas: z.array(z.literal(GROUP_SCHEMA)).optional(),
  id: z.string().optional(),
  externalId: z.string().optional(),
  displayName: z.string().optional(),
  members: z.array(z.strictObject({ value: z.string(), display: z.string() })).optional(),
  meta: z.record(z.string(), z.unknown()).optional(),
});

const example = {
  schemas: [GROUP_SCHEMA],
  id: 'scg-3pQw8NvYk2XbZr5T',
  displayName: 'developers',
  members: [{ value: 'user-8Xc3kYb2TqLw9RfZ', display: 'ada@acme.test' }],
  meta: {
    resourceType: 'Group',
    created: '2026-01-02T03:04:05.678Z',
    lastModified: '2026-01-02T03:04:05.678Z',
    location: `${EXAMPLE_URL}/Groups/scg-3pQw8NvYk2XbZr5T`,
  },
};

const answer = scimAnswer(scimGroupSchema, example);
const group = {
  ...SCIM,
  idName: 'ScimGroup',
  path: { id: { description: 'The id of the group.', example: 'scg-3pQw8NvYk2XbZr5T' } },
};
const conflict = 'Another group has the display name.';
const events = [
  'ScimGroupUpdated',
  'ScimGroupMembersChanged',
  'MembershipCreated',
  'MembershipAccepted',
  'TeamMemberAdded',
  'TeamMemberRemoved',
];
const body: BodyDescription = {
  schema: scimGroupBody,
  mediaType: SCIM_JSON,
  example: { displayName: 'developers', members: [{ value: 'user-8Xc3kYb2TqLw9RfZ' }] },
};
export const scimGroupsOperations = describeController(ScimGroupsController, group, {
  list: {
    summary: 'List the groups that the identity provider manages',
    query: {
      filter: z
        .string()
        .optional()
        .meta({ description: 'A filter (RFC 7644 §3.4.2.2), such as `displayName eq "developers"`.' }),
      ...pageParameters,
      ...attributeParameters,
    },
    answer: scimAnswer(scimListSchema(scimGroupSchema), exampleList([example])),
  },
  create: {
    summary: 'Create a group for the identity provider',
    query: attributeParameters,
    body,
    answer,
    refusals: { conflict },
    events: ['ScimGroupCreated', 'ScimGroupMembersChanged', 'MembershipCreated', 'TeamMemberAdded'],
  },
  show: {
    summary: 'Show a group to the identity provider',
    query: attributeParameters,
    answer,
  },
  replace: {
    summary: 'Replace a group for the identity provider',
    query: attributeParameters,
    body,
    answer,
    refusals: { conflict },
    events,
  },
  patch: {
    summary: 'Change a group for the identity provider',
    query: attributeParameters,
    body: {
      schema: scimPatchBody,
      mediaType: SCIM_JSON,
      example: { Operations: [{ op: 'add', path: 'members', value: [{ value: 'user-8Xc3kYb2TqLw9RfZ' }] }] },
    },
    answer,
    refusals: { conflict },
    events,
  },
  delete: {
    summary: 'Delete a group for the identity provider',
    description: 'The members leave the teams of the group.',
    events: ['ScimGroupDeleted', 'TeamMemberRemoved'],
  },
});
