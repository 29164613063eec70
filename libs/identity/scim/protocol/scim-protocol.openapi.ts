import { z } from 'zod';
import { describeController, describeJson, exampleText } from '#api/json-api/description';
import { ScimProtocolController } from './scim-protocol.controller.js';
import {
  describeServiceProvider,
  ERROR_SCHEMA,
  LIST_SCHEMA,
  listResourceTypes,
  listSchemas,
  SCIM_JSON,
} from './scim-schemas.js';

/** The address of SCIM in examples. */
export const EXAMPLE_URL = 'https://cadastre.test/scim/v2';

export const SCIM = {
  name: 'SCIM',
  description: 'The protocol by which an identity provider manages users and groups (RFC 7643, RFC 7644).',
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
};

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

const pageNumber = z.int().min(-999_999_999).max(999_999_999).optional();

/** Query parameters of a page. Numbers outside the range count as the nearest ones. */
export const pageParameters = {
  startIndex: pageNumber.meta({ description: 'The number of the first resource, from 1.' }),
  count: pageNumber.meta({ description: 'The size of the page, at most 100. The page can be smaller.' }),
};

/** Query parameters that name the attributes of a response. */
export const attributeParameters = {
  attributes: z.string().optional().meta({ description: 'Names of attributes, with commas. Others are left out.' }),
  excludedAttributes: z.string().optional().meta({ description: 'Names of attributes to leave out, with commas.' }),
};

const anyResource = z.record(z.string(), z.unknown());

export const exampleList = (resources: readonly object[]) => ({
  schemas: [LIST_SCHEMA],
  totalResults: resources.length,
  startIndex: 1,
  itemsPerPage: resources.length,
  Resources: resources,
});

export const scimProtocolOperations = describeController(ScimProtocolController, SCIM, {
  showConfiguration: {
    operationId: 'getScimServiceProviderConfig',
    summary: 'Show which features of SCIM the server has',
    answer: scimAnswer(anyResource, describeServiceProvider(EXAMPLE_URL)),
  },
  listResourceTypes: {
    operationId: 'listScimResourceTypes',
    summary: 'List the types of SCIM resources',
    answer: scimAnswer(scimListSchema(anyResource), exampleList(listResourceTypes(EXAMPLE_URL))),
  },
  showResourceType: {
    operationId: 'getScimResourceType',
    summary: 'Show a type of SCIM resources',
    path: { id: { description: 'The name of the type.', example: 'User' } },
    answer: scimAnswer(anyResource, listResourceTypes(EXAMPLE_URL)[0]),
  },
  listSchemas: {
    operationId: 'listScimSchemas',
    summary: 'List the schemas of SCIM resources',
    answer: scimAnswer(scimListSchema(anyResource), exampleList(listSchemas(EXAMPLE_URL))),
  },
  showSchema: {
    operationId: 'getScimSchema',
    summary: 'Show a schema of SCIM resources',
    path: { id: { description: 'The URN of the schema.', example: 'urn:ietf:params:scim:schemas:core:2.0:User' } },
    answer: scimAnswer(anyResource, listSchemas(EXAMPLE_URL)[0]),
  },
});
