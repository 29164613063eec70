import { z } from 'zod';
import { describeController, describeJson, exampleText, type OperationDescription } from '#json-api/description';
import { ScimProtocolController } from './scim-protocol.controller.js';
import {
  ERROR_SCHEMA,
  LIST_SCHEMA,
  SCHEMAS,
  RESOURCE_TYPES,
  SCIM_JSON,
  SERVICE_PROVIDER_CONFIG,
} from './scim-schemas.js';

export const SCIM = {
  name: 'SCIM',
  description: 'The protocol by which an identity provider manages users and groups (RFC 7643, RFC 7644).',
};

/** Parts that all operations of SCIM share. */
export const scimOperation = {
  refusalContent: {
    mediaType: SCIM_JSON,
    schema: z
      .strictObject({
        schemas: z.array(z.literal(ERROR_SCHEMA)),
        status: exampleText('404'),
        scimType: exampleText('invalidFilter').optional(),
        detail: exampleText('Not found'),
      })
      .meta({ id: 'ScimError', description: 'The reason of a refusal.' }),
  },
} satisfies Partial<OperationDescription>;

export const scimAnswer = (schema: z.ZodType, example: unknown) =>
  describeJson(schema, { mediaType: SCIM_JSON, example });

export const scimListSchema = (resource: z.ZodType) =>
  z.strictObject({
    schemas: z.array(z.literal(LIST_SCHEMA)),
    totalResults: z.int(),
    startIndex: z.int(),
    itemsPerPage: z.int(),
    Resources: z.array(resource),
  });

const anyResource = z.record(z.string(), z.unknown());

const list = (resources: readonly object[]) => ({
  schemas: [LIST_SCHEMA],
  totalResults: resources.length,
  startIndex: 1,
  itemsPerPage: resources.length,
  Resources: resources,
});

export const scimProtocolOperations = describeController(ScimProtocolController, SCIM, {
  showConfiguration: {
    ...scimOperation,
    operationId: 'getScimServiceProviderConfig',
    summary: 'Show which features of SCIM the server has',
    answer: scimAnswer(anyResource, SERVICE_PROVIDER_CONFIG),
  },
  listResourceTypes: {
    ...scimOperation,
    operationId: 'listScimResourceTypes',
    summary: 'List the types of SCIM resources',
    answer: scimAnswer(scimListSchema(anyResource), list(RESOURCE_TYPES)),
  },
  showResourceType: {
    ...scimOperation,
    operationId: 'getScimResourceType',
    summary: 'Show a type of SCIM resources',
    path: { id: { description: 'The name of the type.', example: 'User' } },
    answer: scimAnswer(anyResource, RESOURCE_TYPES[0]),
  },
  listSchemas: {
    ...scimOperation,
    operationId: 'listScimSchemas',
    summary: 'List the schemas of SCIM resources',
    answer: scimAnswer(scimListSchema(anyResource), list(SCHEMAS)),
  },
  showSchema: {
    ...scimOperation,
    operationId: 'getScimSchema',
    summary: 'Show a schema of SCIM resources',
    path: {
      id: { description: 'The URN of the schema.', example: 'urn:ietf:params:scim:schemas:core:2.0:User' },
    },
    answer: scimAnswer(anyResource, SCHEMAS[0]),
  },
});
