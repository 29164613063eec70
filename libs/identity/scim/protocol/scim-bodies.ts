import { z } from 'zod';
import { ScimRefusal } from './scim-refusal.js';

/** A body with so many members has about 400 KB. */
export const MAX_GROUP_MEMBERS = 5_000;

/** Postgres stores neither a NUL character nor half of a surrogate pair. */
const isStorable = (value: string): boolean => !value.includes('\0') && value.isWellFormed();

const storable = z.string().refine(isStorable, { error: 'must not contain a NUL character or half of a character' });

const text = (most: number) => storable.max(most);

/** Microsoft Entra sends booleans as texts. */
const lenientBoolean = z.preprocess(
  (value) => (typeof value === 'string' && /^(?:true|false)$/i.test(value) ? value.toLowerCase() === 'true' : value),
  z.boolean(),
);

/** SCIM treats null and an empty text as no value. */
const externalId = z.preprocess((value) => (value === '' ? null : value), text(256).nullish());

export const scimUserBody = z.object({
  userName: text(256).min(1),
  externalId,
  active: lenientBoolean.nullish(),
  emails: z
    .array(z.object({ value: text(254).nullish(), type: text(64).nullish(), primary: lenientBoolean.nullish() }))
    .max(10)
    .nullish(),
});
export type ScimUserInput = z.infer<typeof scimUserBody>;

export const scimGroupBody = z.object({
  displayName: text(256).min(1),
  externalId,
  members: z
    .array(z.object({ value: text(64) }))
    .max(MAX_GROUP_MEMBERS)
    .nullish(),
});
export type ScimGroupInput = z.infer<typeof scimGroupBody>;

export const scimPatchBody = z.object({
  Operations: z
    .array(
      z.object({
        op: z.preprocess(
          (value) => (typeof value === 'string' ? value.toLowerCase() : value),
          z.enum(['add', 'remove', 'replace']),
        ),
        path: storable.nullish(),
        value: z.unknown().optional(),
      }),
    )
    .min(1)
    .max(100),
});
export type ScimOperation = z.infer<typeof scimPatchBody>['Operations'][number];

/** Returns the body with the spelling of known attributes, because their names are case-insensitive (RFC 7643 §2.1). */
const toKnownNames = (body: unknown, knownNames: readonly string[]): unknown => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const spellings = new Map(knownNames.map((name) => [name.toLowerCase(), name]));
  return Object.fromEntries(
    Object.entries(body).flatMap(([name, value]) => {
      const spelling = spellings.get(name.toLowerCase());
      return spelling === undefined ? [] : [[spelling, value]];
    }),
  );
};

/** Returns the known attributes of the body. Throws a SCIM refusal that names the invalid one. */
export const parseScimBody = <S extends z.ZodObject>(schema: S, body: unknown): z.infer<S> => {
  const parsed = schema.safeParse(toKnownNames(body, Object.keys(schema.shape)));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new ScimRefusal('invalidValue', `${path === '' ? 'body' : path}: ${issue?.message ?? 'is not valid'}`);
};

/** Returns the primary address, or the first one, or the user name if it looks like an address. */
export const chooseEmail = ({ emails, userName }: Pick<ScimUserInput, 'emails' | 'userName'>): string | null => {
  const addresses = (emails ?? []).filter(({ value }) => value);
  const chosen = addresses.find(({ primary }) => primary === true) ?? addresses[0];
  return chosen?.value ?? (userName.includes('@') ? userName : null);
};
