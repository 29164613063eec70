import { z } from 'zod';
import { changedIn, type DataOf, type EventKinds } from '#kernel';
import type { Targets, VariableSetEvent, VariableSetFacts } from './variable-set.js';

const facts = z.strictObject({
  name: z.string(),
  description: z.string().nullable(),
  global: z.boolean(),
  priority: z.boolean(),
}) satisfies z.ZodType<VariableSetFacts>;

const targets = z.strictObject({ workspaces: z.array(z.string()), projects: z.array(z.string()) });

const applied = (change: string) => ({
  resource: 'varset',
  action: 'update',
  meta: (data: Targets) => ({ change, ...data }),
});

/** The catalogue of contract §6 knows no sets of variables: `varset` is the API's own name of them. */
export const variableSetEvents: EventKinds<VariableSetEvent> = {
  VariableSetCreated: {
    schemaVersion: 1,
    topic: 'variables',
    schema: facts.extend({ project: z.string().nullable() }),
    audit: { resource: 'varset', action: 'create', meta: ({ name }) => ({ name }) },
  },
  VariableSetUpdated: {
    schemaVersion: 1,
    topic: 'variables',
    schema: z.strictObject({ changes: facts.partial() }) as unknown as z.ZodType<
      DataOf<VariableSetEvent, 'VariableSetUpdated'>
    >,
    audit: {
      resource: 'varset',
      action: 'update',
      meta: ({ changes }) => ({ change: 'settings', ...changedIn(changes) }),
    },
  },
  VariableSetApplied: { schemaVersion: 1, topic: 'variables', schema: targets, audit: applied('applied') },
  VariableSetWithdrawn: { schemaVersion: 1, topic: 'variables', schema: targets, audit: applied('withdrawn') },
  VariableSetDeleted: {
    schemaVersion: 1,
    topic: 'variables',
    schema: z.strictObject({ name: z.string() }),
    audit: { resource: 'varset', action: 'destroy', meta: ({ name }) => ({ name }) },
  },
};
