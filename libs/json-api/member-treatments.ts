import { z } from 'zod';

/**
 * How the server treats a member of a request's body. A member of a schema is `supported` unless it says otherwise here. Members
 * that no schema names are ignored, as the vendor does: clients of newer versions must not fail.
 */
export type Treatment =
  | { readonly treatment: 'supported' }
  /** Stored and shown, and nothing here acts on it. */
  | { readonly treatment: 'kept' }
  /** 422 that names it, unless its value asks for nothing. */
  | { readonly treatment: 'refused'; readonly why: string }
  | { readonly treatment: 'ignored'; readonly why: string };

const treatments = z.registry<Treatment>();

/** Marks a member as stored and shown only. Returns a copy, because one schema can describe several members. */
export const storedOnly = <S extends z.ZodType>(schema: S): S => {
  const copy = schema.clone();
  treatments.add(copy, { treatment: 'kept' });
  return copy;
};

/** A member of which nothing is left, whatever it was. */
type DroppedMember = z.ZodOptional<z.ZodType<undefined, undefined>>;

/**
 * A member that clients send and that has no effect, for a reason that users accept: the value is dropped. A value that
 * `schema` does not accept is still refused.
 */
export const ignoredMember = (why: string, schema: z.ZodType = z.unknown()): DroppedMember =>
  droppedAs({ treatment: 'ignored', why }, schema);

/** A member of a feature that is not built: a value that asks for something is a 422 that names the member. */
export const unsupportedMember = (why: string): DroppedMember =>
  droppedAs(
    { treatment: 'refused', why },
    z.unknown().refine(hasNoEffect, { error: `is not supported: ${why}`, params: { [CONTINUES_NAME]: true } }),
  );

const droppedAs = (treatment: Treatment, schema: z.ZodType): DroppedMember => {
  const dropped = schema.transform((): undefined => undefined).optional() as DroppedMember;
  treatments.add(dropped, treatment);
  return dropped;
};

/** Marks issues with a message that continues the member's name. */
export const CONTINUES_NAME = 'isNameless';

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (Array.isArray(value) && value.length === 0);

/** Clients send the value of a feature that is off, such as false, or a relationship without data. */
const hasNoEffect = (value: unknown): boolean =>
  isNothing(value) || (typeof value === 'object' && value !== null && Object.values(value).every(isNothing));

/** How the member with this schema is treated. */
export const getTreatment = (schema: z.ZodType): Treatment => treatments.get(schema) ?? { treatment: 'supported' };
