import { z } from 'zod';
import { defineEvents, describeChangedAttributes, type EventKinds, type IdSource } from '#platform/kernel';
import { onResource } from '#api/access/rules';
import type { VariableOwner, VariableEvent, VariableAttributes } from './variable.js';
import { addVariable, removeVariable, updateVariable } from './variable-history.js';

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

const onVariable = (owner: IdSource) => onResource('vars', { in: 'variable', owner });

export const variableEvents = defineEvents(
  { topic: 'variables', stream: 'var', audited: 'var', live: onVariable({ first: 'owner' }) },
  {
    VariableCreated: {
      schema: attributes.extend({ owner }).refine(hidesSecrets),
      audit: {
        action: 'create',
        meta: (data) => ({ key: data.key, category: data.category, owner_id: data.owner.id }),
      },
      live: onVariable({ field: 'owner' })('created'),
      history: addVariable,
      ids: { refersTo: { 'owner.id': ['ws', 'varset'] } },
    },
    VariableUpdated: {
      schema: z.strictObject({ changes: attributes.partial().refine(hidesSecrets) }) as unknown as z.ZodType<
        Extract<VariableEvent, { type: 'VariableUpdated' }>['data']
      >,
      audit: { action: 'update', meta: ({ changes }) => describeChangedAttributes(changes) },
      live: 'changed',
      history: updateVariable,
    },
    VariableDeleted: {
      schema: z.strictObject({ key: z.string() }),
      audit: { action: 'destroy', meta: ({ key }) => ({ key }) },
      live: 'deleted',
      history: removeVariable,
    },
  },
) satisfies EventKinds<VariableEvent>;
