import { z } from 'zod';
import { JSON_API } from '#api/json-api';
import {
  exampleText,
  type BodyDescription,
  type ContentAnswer,
  type DocumentAnswer,
  type ResourceDescription,
} from '#api/json-api/description';

export type DescribedResources = ReadonlyMap<string, ResourceDescription>;

type OpenApiContent = Readonly<Record<string, { readonly schema: z.ZodType; readonly example?: unknown }>>;

const pagination = z
  .strictObject({
    'current-page': z.int().min(1),
    'page-size': z
      .int()
      .min(1)
      .meta({ examples: [20] }),
    'prev-page': z
      .int()
      .nullable()
      .meta({ examples: [null] }),
    'next-page': z
      .int()
      .nullable()
      .meta({ examples: [null] }),
    'total-pages': z
      .int()
      .min(0)
      .meta({ examples: [1] }),
    'total-count': z
      .int()
      .min(0)
      .meta({ examples: [1] }),
  })
  .meta({ id: 'Pagination' });

const pageLink = z.string().meta({
  format: 'uri',
  examples: ['https://cadastre.example.com/api/v2/organizations/acme/workspaces?page%5Bnumber%5D=1&page%5Bsize%5D=20'],
});

const pageLinks = z
  .strictObject({
    self: pageLink,
    first: pageLink,
    prev: pageLink.nullable().meta({ examples: [null] }),
    next: pageLink.nullable().meta({ examples: [null] }),
    last: pageLink,
  })
  .meta({ id: 'PageLinks', description: 'Whole URLs of pages of the list.' });

/** Stands for the resources of lists that are always empty. */
const anyResource = z
  .looseObject({ id: exampleText('id'), type: exampleText('type') })
  .meta({ id: 'AnyResource', description: 'A resource of another type.' });

const joinSchemas = (schemas: readonly z.ZodType[]): z.ZodType =>
  schemas.length === 1 && schemas[0] ? schemas[0] : z.union(schemas);

/** A list of resources, which stays empty if there are no schemas. */
const listSchema = (schemas: readonly z.ZodType[]): z.ZodType =>
  schemas.length > 0
    ? z.array(joinSchemas(schemas))
    : z
        .array(anyResource)
        .max(0)
        .meta({ examples: [[]] });

/** Returns the media type and its schema. Content without a schema is a file. */
const describeContent = ({ mediaType, schema, example }: ContentAnswer): [string, OpenApiContent[string]] => [
  mediaType,
  {
    schema: schema ?? z.string().meta({ override: { contentMediaType: mediaType } }),
    ...(example === undefined ? {} : { example }),
  },
];

const FORMS = { resource: 'Document', list: 'List', page: 'Page' } as const;

/** Builds the schemas of documents. A document that several operations return has one schema. */
export class Documents {
  private readonly shared = new Map<string, { readonly contents: string; readonly schema: z.ZodType }>();
  private readonly bodies = new Map<z.ZodType, z.ZodType>();

  constructor(private readonly resources: DescribedResources) {}

  /** Returns the content of a request. A schema that several operations parse has the name of the first of them. */
  contentOfBody({ schema, mediaType, example }: BodyDescription, operationId: string): OpenApiContent {
    if (example === undefined) return { [mediaType]: { schema } };
    const id = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Body`;
    const existing = this.bodies.get(schema) ?? schema.meta({ id });
    this.bodies.set(schema, existing);
    return { [mediaType]: { schema: existing, example } };
  }

  /** Returns the content of an answer by media type. Throws if `data` has a resource that no file defines. */
  contentOf(answer: DocumentAnswer | ContentAnswer): OpenApiContent {
    if (answer.kind === 'document') return { [JSON_API]: { schema: this.shareDocument(answer) } };
    return Object.fromEntries([answer, ...(answer.alternatives ?? [])].map(describeContent));
  }

  /** Documents of the same form with the same resources have one schema and one name. */
  private shareDocument(answer: DocumentAnswer): z.ZodType {
    const { form, resources, included, meta = {}, isNullable = false } = answer;
    const id = `${resources.join('Or') || 'Empty'}${FORMS[form]}${included ? 'WithIncluded' : ''}`;
    const contents = JSON.stringify([included, Object.keys(meta), isNullable]);
    const existing = this.shared.get(id);
    if (existing) return existing.contents === contents ? existing.schema : this.buildDocument(answer);
    const schema = this.buildDocument(answer).meta({ id });
    this.shared.set(id, { contents, schema });
    return schema;
  }

  private buildDocument({ form, resources, included, meta, isNullable }: DocumentAnswer): z.ZodType {
    const schemas = resources.map((name) => this.find(name));
    const data = form === 'resource' ? joinSchemas(schemas) : listSchema(schemas);
    const related = included?.map((name) => this.find(name));
    const isPage = form === 'page';
    const metaMembers = { ...(isPage ? { pagination } : {}), ...meta };
    return z.strictObject({
      data: isNullable ? data.nullable() : data,
      ...(related ? { included: listSchema([...new Set(related)]).optional() } : {}),
      ...(isPage ? { links: pageLinks } : {}),
      ...(Object.keys(metaMembers).length > 0 ? { meta: z.strictObject(metaMembers) } : {}),
    });
  }

  private find(name: string): z.ZodType {
    const resource = this.resources.get(name);
    if (!resource) throw new Error(`no *.openapi.ts defines the resource ${name}`);
    return resource.schema;
  }
}
