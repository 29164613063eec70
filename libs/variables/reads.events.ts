import { z } from 'zod';
import type { EventKinds, Message } from '#kernel';
import type { VariableOwner } from './variables/variable.js';

/** Recorded reads of the variables of workspaces and of sets. */
export type VariableRead =
  | Message<'VariablesListed', { owner: VariableOwner; count: number }>
  | Message<'VariableShown', { variable: string; owner: VariableOwner; key: string; category: 'terraform' | 'env' }>;

const owner = z.strictObject({
  type: z.enum(['workspaces', 'varsets']),
  id: z.string(),
}) satisfies z.ZodType<VariableOwner>;

export const variableReads: EventKinds<VariableRead> = {
  VariablesListed: {
    schemaVersion: 1,
    topic: 'reads',
    schema: z.strictObject({ owner, count: z.int() }),
    audit: {
      resource: 'var',
      action: 'index',
      id: (data) => data.owner.id,
      meta: (data) => ({ owner_id: data.owner.id, count: data.count }),
    },
  },
  VariableShown: {
    schemaVersion: 1,
    topic: 'reads',
    schema: z.strictObject({ variable: z.string(), owner, key: z.string(), category: z.enum(['terraform', 'env']) }),
    audit: {
      resource: 'var',
      action: 'show',
      id: ({ variable }) => variable,
      meta: (data) => ({ key: data.key, category: data.category, owner_id: data.owner.id }),
    },
  },
};
