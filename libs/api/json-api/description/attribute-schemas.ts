import { z } from 'zod';
import { toAttributeName } from '#platform/kernel';

/** A text with an example value, which the examples of the API description show. */
export const exampleText = (example: string, description?: string) =>
  z.string().meta({ examples: [example], ...(description === undefined ? {} : { description }) });

/** A timestamp as the server renders it. */
export const timestamp = (description?: string) =>
  z.string().meta({
    format: 'date-time',
    examples: ['2026-01-31T12:30:15.123Z'],
    ...(description === undefined ? {} : { description }),
  });

/** A whole number that is not negative. */
export const count = (description?: string) =>
  z
    .int()
    .min(0)
    .meta({ examples: [3], ...(description === undefined ? {} : { description }) });

/** An attribute that has no other value yet, because its feature is not built. */
export const always = <const V extends string | number | boolean | null>(value: V) => z.literal(value);

/** An attribute that documents of the self-hosted edition do not have. */
export const absentIfSelfHosted = <S extends z.ZodType>(schema: S) =>
  schema.optional().meta({ description: 'The self-hosted edition does not have it.' });

/** The permissions of the caller on a resource: `{ 'can-update': true }`. */
export const permissionFlags = (...names: readonly string[]) =>
  z
    .strictObject(Object.fromEntries(names.map((name) => [name, z.boolean().meta({ examples: [true] })])))
    .meta({ description: 'What the caller may do.' });

/** The account or token that made a change. Its name is null if the caller may not see it. */
export const principal = z
  .strictObject({
    type: z.enum(['users', 'teams', 'organizations', 'agent-pools', 'runs', 'system']),
    id: exampleText('user-8Xc3kYb2TqLw9RfZ'),
    name: exampleText('ada').nullable(),
  })
  .meta({
    id: 'Principal',
    description: 'The account or token that made a change. The name is null if you may not see it.',
  });

type AttributeShape<T extends z.ZodRawShape> = Readonly<Record<keyof T & string, z.ZodType>>;

/**
 * Returns the schemas of attributes that a document shows as the settings of a resource have them
 * (`defineAttributes`), with their names in the API. `omitted`: settings that the document does not show.
 */
export const describeSettings = <T extends z.ZodRawShape>(
  shape: T,
  omitted: readonly (keyof T & string)[] = [],
): AttributeShape<z.ZodRawShape> =>
  Object.fromEntries(
    Object.entries(shape)
      .filter(([property]) => !omitted.includes(property))
      .map(([property, schema]) => [toAttributeName(property), schema as z.ZodType]),
  );
