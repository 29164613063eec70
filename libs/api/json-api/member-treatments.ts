import { z } from 'zod';

/**
 * How the server treats a member of a request's body. A member is `supported` unless its schema is marked otherwise.
 * Members without a schema are ignored, as in the vendor's API, so that clients of newer versions do not fail.
 */
export type Treatment =
  | { readonly treatment: 'supported' }
  /** Stored and shown, without any other effect. */
  | { readonly treatment: 'kept' }
  /** Refused with a 422 that names it, unless its value has no effect. */
  | { readonly treatment: 'refused'; readonly why: string }
  | { readonly treatment: 'ignored'; readonly why: string };

const treatments = z.registry<Treatment>();

/** Marks a member as stored and shown only. Returns a copy, because one schema can describe several members. */
export const storedOnly = <S extends z.ZodType>(schema: S): S => {
  const copy = schema.clone();
  treatments.add(copy, { treatment: 'kept' });
  return copy;
};

/** Schema of a member whose value is always dropped. */
type DroppedMember = z.ZodOptional<z.ZodType<undefined, undefined>>;

/**
 * Returns the schema of a member that clients send and that has no effect, for a reason that users accept. The value is
 * dropped. A value that `schema` does not accept is still refused.
 */
export const ignoredMember = (why: string, schema: z.ZodType = z.unknown()): DroppedMember =>
  droppedAs({ treatment: 'ignored', why }, schema);

/** Returns the schema of a member of an unsupported feature: a value with an effect is a 422 that names the member. */
export const unsupportedMember = (why: string): DroppedMember =>
  droppedAs(
    { treatment: 'refused', why },
    z.unknown().refine(hasNoEffect, { error: `is not supported: ${why}`, params: { [CONTINUES_NAME]: true } }),
  );

/**
 * Marks a member that only the configuration of the server changes. The value stays, so that the caller can refuse others
 * than the present one.
 */
export const configuredMember = <S extends z.ZodType>(why: string, schema: S): S => {
  const copy = schema.clone();
  treatments.add(copy, { treatment: 'refused', why });
  return copy;
};

const droppedAs = (treatment: Treatment, schema: z.ZodType): DroppedMember => {
  const dropped = schema.transform((): undefined => undefined).optional() as DroppedMember;
  treatments.add(dropped, treatment);
  return dropped;
};

/** Key that marks an issue whose message follows the name of the member. */
export const CONTINUES_NAME = 'isNameless';

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);

/**
 * Returns whether a value switches nothing on: clients send false or a relationship without data for a feature that is
 * off.
 */
const hasNoEffect = (value: unknown): boolean =>
  isNothing(value) || (typeof value === 'object' && value !== null && Object.values(value).every(isNothing));

export const getTreatment = (schema: z.ZodType): Treatment => treatments.get(schema) ?? { treatment: 'supported' };
