import { z } from 'zod';
import {
  defineEvents,
  describeChangedAttributes,
  describeDeletion,
  type DataOf,
  type EventKinds,
  type IdSource,
} from '#platform/kernel';
import { onResource } from '#api/access/rules';
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
const inProject = (project: IdSource) => onResource('varsets', { in: 'variable-set', project });

export const variableSetEvents = defineEvents(
  { topic: 'variables', stream: 'varset', audited: 'varset', live: inProject({ first: 'project' }) },
  {
    VariableSetCreated: {
      schema: attributes.extend({ project: z.string().nullable() }),
      audit: { action: 'create', meta: ({ name }) => ({ name }) },
      live: inProject({ field: 'project' })('created'),
      ids: { refersTo: { project: ['prj'] } },
    },
    VariableSetUpdated: {
      schema: z.strictObject({ changes: attributes.partial() }) as unknown as z.ZodType<
        DataOf<VariableSetEvent, 'VariableSetUpdated'>
      >,
      audit: {
        action: 'update',
        meta: ({ changes }) => ({ change: 'settings', ...describeChangedAttributes(changes) }),
      },
      live: 'changed',
    },
    VariableSetApplied: {
      schema: targets,
      audit: defineTargetEvent('applied'),
      live: 'changed',
      ids: { refersTo: { 'workspaces[]': ['ws'], 'projects[]': ['prj'] } },
    },
    VariableSetWithdrawn: {
      schema: targets,
      audit: defineTargetEvent('withdrawn'),
      live: 'changed',
      ids: { refersTo: { 'workspaces[]': ['ws'], 'projects[]': ['prj'] } },
    },
    VariableSetDeleted: {
      schemaVersion: 2,
      // Deletions of version 1 were final.
      upcast: { 1: [{ add: { recoverableUntil: null } }] },
      schema: z.strictObject({ name: z.string(), recoverableUntil: z.string().nullable() }),
      audit: { action: 'destroy', meta: describeDeletion },
      live: 'deleted',
    },
    VariableSetRecovered: {
      schema: z.strictObject({ name: z.string() }),
      audit: { action: 'recover', meta: ({ name }) => ({ name }) },
      live: 'created',
    },
    VariableSetPurged: {
      schema: z.strictObject({ name: z.string(), expired: z.boolean() }),
      audit: { action: 'purge', meta: ({ name, expired }) => ({ name, expired }) },
      live: { unsent: 'the message about the deletion has said that the variable set is gone' },
    },
  },
) satisfies EventKinds<VariableSetEvent>;
