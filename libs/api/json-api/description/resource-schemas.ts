import { z } from 'zod';
import { exampleText } from './attribute-schemas.js';

/** A JSON:API resource as the server renders it, for the schemas of docs/reference/openapi.json. */
export type ResourceDescription = {
  /** The name of the schema, such as `Workspace`. Answers name resources by it. */
  readonly name: string;
  readonly type: string;
  /** One such resource in a sentence, without an article, such as `SSH key`. */
  readonly noun: string;
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
  /** By default the words of the name: `agent pool` for `AgentPool`. */
  readonly noun?: string;
  readonly attributes?: ObjectMembers;
  readonly relationships?: ObjectMembers;
  /** Whether the link `self` is `/api/v2/TYPE/ID`. */
  readonly hasSelfLink?: true;
  readonly links?: ObjectMembers;
};

const toObject = (members: ObjectMembers): z.ZodType =>
  members instanceof z.ZodType ? members : z.strictObject(members);

/** A path on this server. */
export const serverPath = (example: string) => z.string().meta({ format: 'uri-reference', examples: [example] });

/** Returns `agent pool` for `AgentPool`. */
export const toWords = (name: string): string => name.replaceAll(/(?<!^)([A-Z])/g, ' $1').toLowerCase();

/**
 * Defines the schema of a resource. It is closed: a document with another member fails the test that receives it. Files
 * named `*.openapi.ts` export the result.
 */
export const defineResource = ({
  name,
  type,
  description,
  exampleId,
  noun = toWords(name),
  attributes,
  relationships,
  hasSelfLink,
  links = hasSelfLink && { self: serverPath(`/api/v2/${type}/${exampleId}`) },
}: ResourceMembers): ResourceDescription => ({
  name,
  type,
  noun,
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

const relatedLinks = z
  .strictObject({ related: serverPath('/api/v2/workspaces/ws-7hQ2vXbN4kTgYw3D') })
  .meta({ id: 'RelatedLinks' });

/** The schemas of relationships, by what `data` has. */
export const related = {
  /** A relationship to one resource or none, with a link if it has a resource with an endpoint (`toOne`). */
  one: (...types: readonly string[]) =>
    z.strictObject({ data: z.union([...types.map(identifier), z.null()]), links: relatedLinks.optional() }),

  /** A relationship to one resource that always exists (`toOne`). */
  always: (...types: readonly string[]) =>
    z.strictObject({ data: oneOf(types.map(identifier)), links: relatedLinks.optional() }),

  /** A relationship to any number of resources (`toMany`). */
  many: (...types: readonly string[]) =>
    z.strictObject({ data: z.array(oneOf(types.map(identifier))), links: relatedLinks.optional() }),

  /** A relationship that has no resource yet, because its feature is not built. */
  none: () => z.strictObject({ data: z.null() }),

  /** A relationship that has no resource yet, with a link to an operation that answers 404. */
  noneWithLink: () => z.strictObject({ data: z.null(), links: relatedLinks }),

  /** A relationship to several resources that has none yet, because their feature is not built. */
  empty: (type: string) =>
    z.strictObject({
      data: z
        .array(identifier(type))
        .max(0)
        .meta({ examples: [[]] }),
    }),

  /** A relationship with only a link (`linkTo`). */
  link: () => z.strictObject({ links: relatedLinks }),

  /** A relationship with a link, and with identifiers in documents that include the resources. */
  ifIncluded: (type: string) => z.strictObject({ data: z.array(identifier(type)).optional(), links: relatedLinks }),
};
