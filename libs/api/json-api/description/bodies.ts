import { z } from 'zod';
import type { resourceBody } from '../body-schemas.js';
import { JSON_API } from '../media-type.js';
import type { BodyDescription } from './operation.js';

/** Describes a JSON body by the schema that parses it. `example`: a body that the server accepts. */
export const describeBody = <S extends z.ZodType>(schema: S, example: z.input<S>): BodyDescription => ({
  schema,
  mediaType: JSON_API,
  example,
});

type ResourceInput = { readonly data: { readonly attributes?: unknown; readonly relationships?: unknown } };

/** Describes the body of a resource by the schema that parses it (`resourceBody`), with examples of its members. */
export const describeResourceBody = <S extends z.ZodType<unknown, ResourceInput>>(
  schema: S,
  attributes: z.input<S>['data']['attributes'],
  relationships?: z.input<S>['data']['relationships'],
): BodyDescription => {
  const { type } = (schema as unknown as ReturnType<typeof resourceBody>).shape.data.shape;
  const [name] = (type.unwrap().unwrap().meta()?.['enum'] ?? []) as readonly string[];
  const example = { data: { type: name, attributes, ...(relationships ? { relationships } : {}) } };
  return { schema, mediaType: JSON_API, example };
};

/** Describes a JSON body that the request may leave out. */
export const describeOptionalBody = <S extends z.ZodType>(schema: S, example: z.input<S>): BodyDescription => ({
  ...describeBody(schema, example),
  isOptional: true,
});

/** Describes the fields of a form that a page sends (`application/x-www-form-urlencoded`). */
export const describeFormBody = <S extends z.ZodType>(schema: S, example: z.input<S>): BodyDescription => ({
  schema,
  mediaType: 'application/x-www-form-urlencoded',
  example,
});

/** Describes a body of any media type that the server stores as a file. */
export const describeFileBody = (description: string): BodyDescription => ({
  schema: z.string().meta({ description, override: { type: 'string', contentMediaType: 'application/octet-stream' } }),
  mediaType: 'application/octet-stream',
});
