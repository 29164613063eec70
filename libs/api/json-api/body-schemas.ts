import { z } from 'zod';
import { parseInstant, toPropertyName } from '#platform/kernel';
import { CONTINUES_NAME, getTreatment } from './member-treatments.js';

/** A text in a request. Every text has a limit, because the text becomes part of an event and of a Kafka message. */
export const text = (most: number) => z.string().max(most, { error: `too long, at most ${most} characters` });

/** Limits the bytes of a value as JSON. An event contains the value as a whole, and has a limit too. */
export const limitBytes = <S extends z.ZodType>(schema: S, most: number): S =>
  schema.refine((value) => Buffer.byteLength(JSON.stringify(value) ?? '') <= most, {
    error: `is too long (at most ${most} bytes in all)`,
    params: { [CONTINUES_NAME]: true },
  });

/**
 * A closed object that may lack each of these members, for events that contain only what changes. zod's type also allows
 * members that are undefined. Events come from JSON, which has none, and the types of changes exclude them.
 */
export const optionalMembers = <S extends z.ZodRawShape>(members: z.ZodObject<S, z.core.$strict>) =>
  members.partial() as unknown as z.ZodType<{ readonly [K in keyof S]?: z.output<S[K]> }>;

/** A time in ISO 8601 with its zone, converted to UTC with milliseconds. */
export const isoTime = (error: string) =>
  z
    .string()
    .meta({ format: 'date-time' })
    .transform((input, context) => {
      const milliseconds = parseInstant(input);
      if (milliseconds !== undefined) return new Date(milliseconds).toISOString();
      context.addIssue({ code: 'custom', message: error });
      return z.NEVER;
    });

/** Schema of a resource's `type`: missing, null and `""` are accepted, another type is refused. */
export const typeSchema = (...types: readonly string[]) =>
  z
    .string()
    .refine((type) => type === '' || types.includes(type), { error: `Type must be ${types.join(' or ')}` })
    .meta({ enum: [...types, ''] })
    .nullish();

/**
 * Renames `session_timeout` to `session-timeout`, because some clients use underscores (pytfe). If both are sent, the
 * name with hyphens counts.
 */
const hyphenateKeys = (attributes: unknown): unknown => {
  if (!isMap(attributes)) return attributes;
  const renamed = Object.entries(attributes).map(([name, value]) => [name.replaceAll('_', '-'), value] as const);
  return { ...Object.fromEntries(renamed), ...attributes };
};

/**
 * Schema of `{ data: { type, id?, attributes, relationships? } }`. Members that the schemas do not list are ignored
 * (member-treatments.ts).
 */
export const resourceBody = <A extends z.ZodType, R extends z.ZodType = z.ZodOptional<z.ZodUnknown>>(
  types: string | readonly string[],
  attributes: A,
  relationships?: R,
) =>
  z.object({
    data: z.object({
      type: typeSchema(...(typeof types === 'string' ? [types] : types)),
      // The cast keeps the input type of the attributes: `z.preprocess` accepts unknown input, and checks of attributes
      // depend on the type.
      attributes: z.preprocess(hyphenateKeys, attributes) as unknown as A,
      relationships: relationships ?? (z.unknown().optional() as unknown as R),
    }),
  });

/** A closed object: any other member is refused with a list of the accepted members. */
export const strictObject = <S extends Readonly<Record<string, z.ZodType>>>(shape: S) =>
  z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `${ACCEPTED_MEMBERS}${listAcceptedMembers(shape)}` : undefined,
  });

const listAcceptedMembers = (shape: Readonly<Record<string, z.ZodType>>): string =>
  Object.entries(shape)
    .flatMap(([name, schema]) => (['supported', 'kept'].includes(getTreatment(schema).treatment) ? [name] : []))
    .join(', ');

/** Begins the issue of a closed object. A list of the accepted members follows. */
export const ACCEPTED_MEMBERS = 'accepted are ';

const isMap = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The limit is longer than any id and any name. */
export const ID = text(255);

/** Limits the work of one request: each resource is locked or created while the request runs. */
const MAX_IDENTIFIERS = 500;

/**
 * Largest body of a request that lists resources. Clients send complete resources, of about 2 KB each, where
 * identifiers are enough.
 */
export const LIST_BODY_BYTES = 1024 * 1024;

/**
 * Schema of a list of identifiers. Clients may send complete resources: only `type` and `id` count. An entry without an
 * id is refused.
 */
const identifiers = (type: string, most: number) =>
  z
    .array(z.object({ type: typeSchema(type), id: ID.refine((id) => id !== '', { error: "Id can't be blank" }) }))
    .max(most, { error: `too many, at most ${most} of them` });

export const identifiersBody = (type: string, most = MAX_IDENTIFIERS) => z.object({ data: identifiers(type, most) });

export const toManyInput = (type: string) => z.object({ data: identifiers(type, MAX_IDENTIFIERS).nullish() }).nullish();

/** Returns the ids in a to-many relationship: undefined if absent, an empty list for null. */
export const parseToMany = (input: z.infer<ReturnType<typeof toManyInput>>): readonly string[] | undefined =>
  input?.data === undefined ? undefined : (input.data ?? []).map(({ id }) => id);

/** A to-one relationship that must not be empty. */
export const requiredToOne = z.object({ data: z.object({ id: ID }) });

/** An optional to-one relationship. A null or blank `id` clears it. */
export const toOneInput = z.object({ data: z.object({ id: ID.nullish() }).nullish() }).nullish();

/**
 * Returns the id of another resource that a request sends in a relationship or in an attribute: undefined if absent,
 * null to clear it.
 */
export const parseToOne = (input: z.infer<typeof toOneInput>, attribute?: string | null): string | null | undefined => {
  if (input?.data !== undefined) return input.data?.id || null;
  return attribute === undefined ? undefined : attribute || null;
};

/** Drops members that are undefined. Null stays, because null clears a value. */
export const omitUndefined = <T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/** Drops members that are undefined or null, for values that cannot be cleared. */
export const omitNullish = <T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/**
 * Converts `{ 'auto-apply': true }` to `{ autoApply: true }`. Drops members that are undefined. The reverse of
 * `toAttributes`.
 */
export const fromAttributes = <T extends object>(
  attributes: T,
): { [K in keyof T & string as Camel<K>]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(omitUndefined(attributes)).map(([key, value]) => [toPropertyName(key), value])) as {
    [K in keyof T & string as Camel<K>]?: Exclude<T[K], undefined>;
  };
