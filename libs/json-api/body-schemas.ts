import { z } from 'zod';
import { toPropertyName } from '#kernel';
import { getTreatment } from './member-treatments.js';

/** A text of a request. None is without an end: what it says becomes one event, and that a message of Kafka's. */
export const text = (most: number) => z.string().max(most, { error: `too long, at most ${most} characters` });

/** `type` of a request's resource: absent, null and `""` are fine, another type is not (clients.md §1). */
export const typeSchema = (...types: readonly string[]) =>
  z
    .string()
    .refine((type) => type === '' || types.includes(type), { error: `Type must be ${types.join(' or ')}` })
    .nullish();

/** Some clients write `session_timeout` for `session-timeout` (pytfe). Where both are there, the latter counts. */
const hyphenateKeys = (attributes: unknown): unknown => {
  if (!isMap(attributes)) return attributes;
  const renamed = Object.entries(attributes).map(([name, value]) => [name.replaceAll('_', '-'), value] as const);
  return { ...Object.fromEntries(renamed), ...attributes };
};

/**
 * `{ data: { type, id?, attributes, relationships? } }`; attributes and relationships not named are ignored
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
      // Under its own type: a preprocessed schema takes anything, and checks of attributes are typed by what it takes.
      attributes: z.preprocess(hyphenateKeys, attributes) as unknown as A,
      relationships: relationships ?? (z.unknown().optional() as unknown as R),
    }),
  });

/** A map whose members are all known: any other member is refused, with the names that are accepted. */
export const strictObject = <S extends Readonly<Record<string, z.ZodType>>>(shape: S) =>
  z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `${ACCEPTED_MEMBERS}${listAcceptedMembers(shape)}` : undefined,
  });

const listAcceptedMembers = (shape: Readonly<Record<string, z.ZodType>>): string =>
  Object.entries(shape)
    .flatMap(([name, schema]) => (['supported', 'kept'].includes(getTreatment(schema).treatment) ? [name] : []))
    .join(', ');

/** Begins the message of a closed map's issue, which says what the map accepts. */
export const ACCEPTED_MEMBERS = 'accepted are ';

const isMap = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Longer than any id and any name. */
export const ID = text(255);

/** Each of them is held, or made, while the request is written. */
const MAX_IDENTIFIERS = 500;

/** Size of a body that lists resources. Clients send whole documents, of about 2 KB, where identifiers are enough. */
export const LIST_BODY_BYTES = 1024 * 1024;

/** Clients may send whole resources: `type` and `id` count. An entry without an id is refused. */
const identifiers = (type: string, most: number) =>
  z
    .array(z.object({ type: typeSchema(type), id: ID.refine((id) => id !== '', { error: "Id can't be blank" }) }))
    .max(most, { error: `too many, at most ${most} of them` });

/** The body of a relationship endpoint. */
export const identifiersBody = (type: string, most = MAX_IDENTIFIERS) => z.object({ data: identifiers(type, most) });

/** A to-many relationship in a request. */
export const toManyInput = (type: string) => z.object({ data: identifiers(type, MAX_IDENTIFIERS).nullish() }).nullish();

/** The ids that it names: absent keeps, null clears like an empty list. */
export const parseToMany = (input: z.infer<ReturnType<typeof toManyInput>>): readonly string[] | undefined =>
  input?.data === undefined ? undefined : (input.data ?? []).map(({ id }) => id);

/** A to-one relationship that must name one. */
export const requiredToOne = z.object({ data: z.object({ id: ID }) });

/** A to-one relationship in a request; `id` null or blank where nothing is meant. */
export const toOneInput = z.object({ data: z.object({ id: ID.nullish() }).nullish() }).nullish();

/**
 * What a request says of one other resource, by a relationship, or by an attribute with its id: absent keeps, null and
 * blank clear.
 */
export const parseToOne = (input: z.infer<typeof toOneInput>, attribute?: string | null): string | null | undefined => {
  if (input?.data !== undefined) return input.data?.id || null;
  return attribute === undefined ? undefined : attribute || null;
};

/** Drops what the request did not name: absent keeps, null clears. */
export const omitUndefined = <T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

/** As `given`, where nothing can be cleared: null says as little as saying nothing. */
export const omitNullish = <T extends object>(values: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** `{ 'auto-apply': true }` → `{ autoApply: true }`, the way back from attributesOf; what is absent stays absent. */
export const fromAttributes = <T extends object>(
  attributes: T,
): { [K in keyof T & string as Camel<K>]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(omitUndefined(attributes)).map(([key, value]) => [toPropertyName(key), value])) as {
    [K in keyof T & string as Camel<K>]?: Exclude<T[K], undefined>;
  };
