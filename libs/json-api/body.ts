import { z } from 'zod';
import { Refused, type Problem } from '#kernel';

type Issue = z.core.$ZodIssue;

const WORDS: Readonly<Record<string, string>> = {
  boolean: 'must be true or false',
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be a whole number',
  array: 'must be a list',
  object: 'must be an object',
  record: 'must be an object',
};

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ');

const problemOf = (issue: Issue): Problem => {
  const pointer = `/${issue.path.map(String).join('/')}`;
  // The last name on the path, not an index: `protocols/0` is about protocols.
  const name = issue.path.findLast((part) => typeof part === 'string') ?? 'document';
  if (issue.code === 'invalid_type') {
    const missing = issue.input === undefined;
    const text = missing ? "can't be blank" : (WORDS[issue.expected] ?? `must be of type ${issue.expected}`);
    return { detail: `${capitalised(name)} ${text}`, pointer };
  }
  if (issue.code === 'invalid_value') {
    return { detail: `${capitalised(name)} must be one of ${issue.values.map(String).join(', ')}`, pointer };
  }
  if (issue.code === 'custom' || issue.code === 'invalid_format') return { detail: issue.message, pointer };
  return { detail: `${capitalised(name)}: ${issue.message}`, pointer };
};

/** Texts that JSON can write and Postgres cannot keep: with a NUL, or with half of a surrogate pair. */
const unstorable = (value: unknown, pointer: string): readonly Problem[] => {
  if (typeof value === 'string') {
    if (!value.includes('\0') && value.isWellFormed()) return [];
    const name = pointer.split('/').findLast((part) => !/^\d*$/.test(part)) ?? 'document';
    return [{ detail: `${capitalised(name)} holds a character that cannot be stored`, pointer }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...unstorable(key, pointer),
    ...unstorable(inner, `${pointer}/${key}`),
  ]);
};

/** What a schema makes of a request's body, or a 422 that names every field that is wrong. */
export const parseBody = <T>(schema: z.ZodType<T>, body: unknown): T => {
  const result = schema.safeParse(body ?? {}, { reportInput: true });
  const problems = result.success ? unstorable(result.data, '') : result.error.issues.map(problemOf);
  if (result.success && problems.length === 0) return result.data;
  throw new Refused('unprocessable', problems);
};

/** `type` of a request's resource: absent and `""` are fine, another type is not (clients.md §1). */
export const typeOf = (...types: readonly string[]) =>
  z
    .string()
    .refine((type) => type === '' || types.includes(type), { error: `Type must be ${types[0] ?? ''}` })
    .optional();

/** `{ data: { type, id?, attributes, relationships? } }`; attributes and relationships not named are ignored. */
export const resourceBody = <A extends z.ZodType, R extends z.ZodType = z.ZodOptional<z.ZodUnknown>>(
  types: string | readonly string[],
  attributes: A,
  relationships?: R,
) =>
  z.object({
    data: z.object({
      type: typeOf(...(typeof types === 'string' ? [types] : types)),
      attributes,
      relationships: relationships ?? (z.unknown().optional() as unknown as R),
    }),
  });

/** The body of a relationship endpoint: whole resources may come, `type` and `id` are what counts. */
export const identifiersBody = (type: string) =>
  z.object({ data: z.array(z.object({ type: typeOf(type), id: z.string() })) });

/** A to-one relationship in a request; `id` null or blank where nothing is meant. */
export const toOneInput = z.object({ data: z.object({ id: z.string().nullish() }).nullish() }).optional();

/**
 * What a request says of one other resource, by a relationship, or by an attribute with its id: absent keeps, null and
 * blank clear.
 */
export const toOneOf = (input: z.infer<typeof toOneInput>, attribute?: string | null): string | null | undefined => {
  if (input?.data !== undefined) return input.data?.id || null;
  return attribute === undefined ? undefined : attribute || null;
};

/** Drops what the request did not name: absent keeps, null clears. */
export const given = <T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

const camel = (key: string): string => key.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** `{ 'auto-apply': true }` → `{ autoApply: true }`, the way back from attributesOf; what is absent stays absent. */
export const valuesOf = <T extends object>(
  attributes: T,
): { [K in keyof T & string as Camel<K>]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(given(attributes)).map(([key, value]) => [camel(key), value])) as {
    [K in keyof T & string as Camel<K>]?: Exclude<T[K], undefined>;
  };
