import { z } from 'zod';
import { defineEvents, type EventKinds, type Message } from '#platform/kernel';
import { READS } from '#api/access/rules';
import type { VariableOwner } from './variables/variable.js';

/** Recorded reads of the variables of workspaces and of sets. */
export type VariableRead =
  | Message<'VariablesListed', { owner: VariableOwner; count: number }>
  | Message<'VariableShown', { variable: string; owner: VariableOwner; key: string; category: 'terraform' | 'env' }>;

const owner = z.strictObject({
  type: z.enum(['workspaces', 'varsets']),
  id: z.string(),
}) satisfies z.ZodType<VariableOwner>;

export const variableReads = defineEvents(
  { ...READS, audited: 'var' },
  {
    VariablesListed: {
      schema: z.strictObject({ owner, count: z.int() }),
      audit: {
        action: 'index',
        id: (data) => data.owner.id,
        meta: (data) => ({ owner_id: data.owner.id, count: data.count }),
      },
      ids: { refersTo: { 'owner.id': ['ws', 'varset'] } },
    },
    VariableShown: {
      schema: z.strictObject({ variable: z.string(), owner, key: z.string(), category: z.enum(['terraform', 'env']) }),
      audit: {
        action: 'show',
        id: ({ variable }) => variable,
        meta: (data) => ({ key: data.key, category: data.category, owner_id: data.owner.id }),
      },
      ids: { refersTo: { variable: ['var'], 'owner.id': ['ws', 'varset'] } },
    },
  },
) satisfies EventKinds<VariableRead>;
