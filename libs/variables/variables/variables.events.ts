import { z } from 'zod';
import { describeChangedAttributes, type EventKinds } from '#kernel';
import type { VariableOwner, VariableEvent, VariableAttributes } from './variable.js';

const attributes = z.strictObject({
  key: z.string(),
  category: z.enum(['terraform', 'env']),
  description: z.string().nullable(),
  hcl: z.boolean(),
  sensitive: z.boolean(),
  value: z.string().nullable(),
}) satisfies z.ZodType<VariableAttributes>;

const owner = z.strictObject({
  type: z.enum(['workspaces', 'varsets']),
  id: z.string(),
}) satisfies z.ZodType<VariableOwner>;

type Hideable = { readonly sensitive?: boolean | undefined; readonly value?: string | null | undefined };

/** The last check before the immutable log: no event with a sensitive attribute may contain the value. */
const hidesSecrets = ({ sensitive, value }: Hideable) => !sensitive || (value ?? null) === null;

export const variableEvents: EventKinds<VariableEvent> = {
  VariableCreated: {
    schemaVersion: 1,
    topic: 'variables',
    schema: attributes.extend({ owner }).refine(hidesSecrets),
    audit: {
      resource: 'var',
      action: 'create',
      meta: (data) => ({ key: data.key, category: data.category, owner_id: data.owner.id }),
    },
  },
  VariableUpdated: {
    schemaVersion: 1,
    topic: 'variables',
    schema: z.strictObject({ changes: attributes.partial().refine(hidesSecrets) }) as unknown as z.ZodType<
      Extract<VariableEvent, { type: 'VariableUpdated' }>['data']
    >,
    audit: { resource: 'var', action: 'update', meta: ({ changes }) => describeChangedAttributes(changes) },
  },
  VariableDeleted: {
    schemaVersion: 1,
    topic: 'variables',
    schema: z.strictObject({ key: z.string() }),
    audit: { resource: 'var', action: 'destroy', meta: ({ key }) => ({ key }) },
  },
};
