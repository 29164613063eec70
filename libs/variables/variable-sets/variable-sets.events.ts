import { z } from 'zod';
import { describeChangedAttributes, type DataOf, type EventKinds } from '#kernel';
import type { VariableSetTargets, VariableSetEvent, VariableSetAttributes } from './variable-set.js';

const attributes = z.strictObject({
  name: z.string(),
  description: z.string().nullable(),
  global: z.boolean(),
  priority: z.boolean(),
}) satisfies z.ZodType<VariableSetAttributes>;

const targets = z.strictObject({ workspaces: z.array(z.string()), projects: z.array(z.string()) });

const defineTargetEvent = (change: string) => ({
  resource: 'varset',
  action: 'update',
  meta: (data: VariableSetTargets) => ({ change, ...data }),
});

/** The vendor's catalogue of audit entries has no name for sets of variables; `varset` is the name in the API. */
export const variableSetEvents: EventKinds<VariableSetEvent> = {
  VariableSetCreated: {
    schemaVersion: 1,
    topic: 'variables',
    schema: attributes.extend({ project: z.string().nullable() }),
    audit: { resource: 'varset', action: 'create', meta: ({ name }) => ({ name }) },
  },
  VariableSetUpdated: {
    schemaVersion: 1,
    topic: 'variables',
    schema: z.strictObject({ changes: attributes.partial() }) as unknown as z.ZodType<
      DataOf<VariableSetEvent, 'VariableSetUpdated'>
    >,
    audit: {
      resource: 'varset',
      action: 'update',
      meta: ({ changes }) => ({ change: 'settings', ...describeChangedAttributes(changes) }),
    },
  },
  VariableSetApplied: { schemaVersion: 1, topic: 'variables', schema: targets, audit: defineTargetEvent('applied') },
  VariableSetWithdrawn: {
    schemaVersion: 1,
    topic: 'variables',
    schema: targets,
    audit: defineTargetEvent('withdrawn'),
  },
  VariableSetDeleted: {
    schemaVersion: 1,
    topic: 'variables',
    schema: z.strictObject({ name: z.string() }),
    audit: { resource: 'varset', action: 'destroy', meta: ({ name }) => ({ name }) },
  },
};
