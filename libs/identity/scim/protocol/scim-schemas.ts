export const SCIM_JSON = 'application/scim+json';

export const USER_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
export const ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** Resources of one page of a list. */
export const MAX_PAGE = 100;

/** Bytes of the largest body: a group with all members, and their names and links. */
export const MAX_BODY_BYTES = 1024 * 1024;

const attribute = (name: string, type: string, more: object = {}): object => ({
  name,
  type,
  multiValued: false,
  required: false,
  caseExact: false,
  mutability: 'readWrite',
  returned: 'default',
  uniqueness: 'none',
  ...more,
});

const USER_ATTRIBUTES = [
  attribute('userName', 'string', { required: true, uniqueness: 'server' }),
  attribute('displayName', 'string', { mutability: 'readOnly' }),
  attribute('active', 'boolean'),
  attribute('emails', 'complex', {
    multiValued: true,
    subAttributes: [attribute('value', 'string'), attribute('type', 'string'), attribute('primary', 'boolean')],
  }),
];

const GROUP_ATTRIBUTES = [
  attribute('displayName', 'string', { required: true, uniqueness: 'server' }),
  attribute('members', 'complex', {
    multiValued: true,
    subAttributes: [
      attribute('value', 'string', { mutability: 'immutable', caseExact: true }),
      attribute('display', 'string', { mutability: 'readOnly' }),
    ],
  }),
];

/** A resource that describes the server. */
export type ScimDescription = { readonly id: string; readonly [member: string]: unknown };

const schema = (baseUrl: string, id: string, name: string, attributes: readonly object[]): ScimDescription => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
  id,
  name,
  attributes,
  meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${id}` },
});

/** Returns the attributes that the server stores (RFC 7643 §7). It ignores others. */
export const listSchemas = (baseUrl: string): readonly ScimDescription[] => [
  schema(baseUrl, USER_SCHEMA, 'User', USER_ATTRIBUTES),
  schema(baseUrl, GROUP_SCHEMA, 'Group', GROUP_ATTRIBUTES),
];

const resourceType = (baseUrl: string, id: string, endpoint: string, schemaId: string): ScimDescription => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
  id,
  name: id,
  endpoint,
  schema: schemaId,
  meta: { resourceType: 'ResourceType', location: `${baseUrl}/ResourceTypes/${id}` },
});

export const listResourceTypes = (baseUrl: string): readonly ScimDescription[] => [
  resourceType(baseUrl, 'User', '/Users', USER_SCHEMA),
  resourceType(baseUrl, 'Group', '/Groups', GROUP_SCHEMA),
];

/** Returns the features of the server (RFC 7643 §5). */
export const describeServiceProvider = (baseUrl: string) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: MAX_PAGE },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'SCIM token',
      description: 'A token that a site administrator creates: POST /api/v2/admin/scim-tokens',
      primary: true,
    },
  ],
  meta: { resourceType: 'ServiceProviderConfig', location: `${baseUrl}/ServiceProviderConfig` },
});
