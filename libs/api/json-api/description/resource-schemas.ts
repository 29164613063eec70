import { z } from 'zod';
import { exampleText } from './attribute-schemas.js';

/** A JSON:API resource as the server renders it, for the schemas of docs/reference/openapi.json. */
export type ResourceDescription = {
  /** The name of the schema, such as `Workspace`. Answers name resources by it. */
  readonly name: string;
  readonly type: string;
  /** An id of such a resource. */
  readonly exampleId: string;
  readonly schema: z.ZodType;
};

/** Members that are always there, or a schema if the server leaves the whole object out sometimes. */
type ObjectMembers = z.ZodRawShape | z.ZodType;

type ResourceMembers = {
  readonly name: string;
  /** The JSON:API type. */
  readonly type: string;
  /** A sentence about what the resource is. */
  readonly description: string;
  readonly exampleId: string;
  readonly attributes?: ObjectMembers;
  readonly relationships?: ObjectMembers;
  readonly links?: ObjectMembers;
};

const toObject = (members: ObjectMembers): z.ZodType =>
  members instanceof z.ZodType ? members : z.strictObject(members);

/**
 * Defines the schema of a resource. It is closed: a document with another member fails the test that receives it. Files
 * named `*.schema.ts` export the result.
 */
export const defineResource = ({
  name,
  type,
  description,
  exampleId,
  attributes,
  relationships,
  links,
}: ResourceMembers): ResourceDescription => ({
  name,
  type,
  exampleId,
  schema: z
    .strictObject({
      id: exampleText(exampleId),
      type: z.literal(type),
      ...(attributes ? { attributes: toObject(attributes) } : {}),
      ...(relationships ? { relationships: toObject(relationships) } : {}),
      ...(links ? { links: toObject(links) } : {}),
    })
    .meta({ id: name, description }),
});

/** Returns `SshKey` for `ssh-keys`. */
const toComponentName = (type: string): string =>
  type
    .replace(/ies$/, 'y')
    .replace(/s$/, '')
    .replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const identifiers = new Map<string, z.ZodType>();

/** Returns the schema of an identifier, always the same one for a type, because its name must be unique. */
const identifier = (type: string): z.ZodType => {
  const existing = identifiers.get(type);
  if (existing) return existing;
  const schema = z
    .strictObject({ type: z.literal(type), id: z.string().meta({ examples: [`id-of-${type}`] }) })
    .meta({ id: `${toComponentName(type)}Identifier` });
  identifiers.set(type, schema);
  return schema;
};

const oneOf = (schemas: readonly z.ZodType[]): z.ZodType => (schemas.length === 1 && schemas[0]) || z.union(schemas);

/** A path on this server. */
export const serverPath = (example: string) => z.string().meta({ format: 'uri-reference', examples: [example] });

const relatedLinks = z
  .strictObject({ related: serverPath('/api/v2/workspaces/ws-7hQ2vXbN4kTgYw3D') })
  .meta({ id: 'RelatedLinks' });

/** A relationship to one resource or none, with a link if it has a resource with an endpoint (`toOne`). */
export const relatedOne = (...types: readonly string[]) =>
  z.strictObject({ data: z.union([...types.map(identifier), z.null()]), links: relatedLinks.optional() });

/** A relationship to one resource that always exists (`toOne`). */
export const relatedAlways = (...types: readonly string[]) =>
  z.strictObject({ data: oneOf(types.map(identifier)), links: relatedLinks.optional() });

/** A relationship to any number of resources (`toMany`). */
export const relatedMany = (...types: readonly string[]) =>
  z.strictObject({ data: z.array(oneOf(types.map(identifier))), links: relatedLinks.optional() });

/** A relationship that has no resource yet, because its feature is not built. */
export const relatedNone = () => z.strictObject({ data: z.null() });

/** A relationship that has no resource yet, with a link to an operation that answers 404. */
export const relatedNoneWithLink = () => z.strictObject({ data: z.null(), links: relatedLinks });

/** A relationship to several resources that has none yet, because their feature is not built. */
export const relatedEmpty = (type: string) =>
  z.strictObject({
    data: z
      .array(identifier(type))
      .max(0)
      .meta({ examples: [[]] }),
  });

/** A relationship with only a link (`linkTo`). */
export const relatedLink = () => z.strictObject({ links: relatedLinks });

/** A relationship with a link, and with identifiers in documents that include the resources. */
export const relatedIfIncluded = (type: string) =>
  z.strictObject({ data: z.array(identifier(type)).optional(), links: relatedLinks });
