import { z } from 'zod';
import { MAX_GROUP_MEMBERS } from '../groups/scim-group.js';
import { ScimRefusal } from './scim-refusal.js';

const text = (most: number) =>
  z
    .string()
    .max(most)
    .refine((value) => !value.includes('\0'), { error: 'must not contain a NUL character' });

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
  active: lenientBoolean.default(true),
  emails: z
    .array(z.object({ value: text(254), primary: lenientBoolean.nullish() }))
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
        path: text(500).optional(),
        value: z.unknown().optional(),
      }),
    )
    .min(1)
    .max(100),
});
export type ScimOperation = z.infer<typeof scimPatchBody>['Operations'][number];

/** Returns the body. Throws a SCIM refusal that names the invalid member. */
export const parseScimBody = <S extends z.ZodType>(schema: S, body: unknown): z.infer<S> => {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path.join('.') ?? '';
  throw new ScimRefusal('invalidValue', `${path === '' ? 'body' : path}: ${issue?.message ?? 'is not valid'}`);
};

/** Returns the primary address, or the first one, or the user name if it looks like an address. */
export const chooseEmail = ({ emails, userName }: ScimUserInput): string | null => {
  const chosen = emails?.find(({ primary }) => primary === true) ?? emails?.[0];
  if (chosen) return chosen.value;
  return userName.includes('@') ? userName : null;
};
