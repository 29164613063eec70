import { z } from 'zod';
import { JSON_API } from '../media-type.js';
import type { BodyDescription } from './operation.js';

/** Describes a JSON body by the schema that parses it. `example`: a body that the server accepts. */
export const describeBody = <S extends z.ZodType>(schema: S, example: z.input<S>): BodyDescription => ({
  schema,
  mediaType: JSON_API,
  example,
});

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
