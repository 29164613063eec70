import { z } from 'zod';
import {
  omitUndefined,
  ID,
  identifiersBody,
  unsupportedMember,
  resourceBody,
  omitNullish,
  toManyInput,
  parseToMany,
  typeSchema,
} from '#api/json-api';
import type { VariableSetTargets, VariableSetChanges } from './variable-set.js';
import type { NewVariable } from '../variables/variable.js';
import { newVariable } from '../variables/variables.body.js';

const MAX_VARIABLES_PER_REQUEST = 500;

/**
 * Complete definitions create variables. Identifiers alone come from clients that send back a document, and are
 * ignored.
 */
const listedVariable = z.union([
  z.object({ type: typeSchema('vars'), id: z.undefined().optional(), attributes: newVariable }),
  z.object({ type: typeSchema('vars'), id: ID }).transform(() => null),
]);

const relationships = z
  .object({
    workspaces: toManyInput('workspaces'),
    projects: toManyInput('projects'),
    stacks: unsupportedMember('stacks are not built'),
    vars: z.object({ data: z.array(listedVariable).max(MAX_VARIABLES_PER_REQUEST).nullish() }).optional(),
    parent: z
      .object({ data: z.object({ type: typeSchema('organizations', 'projects'), id: ID }).nullish() })
      .optional(),
  })
  .optional();

const attributes = z.object({
  name: z.string(),
  description: z.string().nullish(),
  global: z.boolean().nullish(),
  priority: z.boolean().nullish(),
});

export const createBody = resourceBody('varsets', attributes, relationships);
export const updateBody = resourceBody('varsets', attributes.partial().default({}), relationships);

/** Bodies that list targets of a set, to apply it or to withdraw it. */
export const targetBodies = { workspaces: identifiersBody('workspaces'), projects: identifiersBody('projects') };

type VariableSetRelationships = z.infer<typeof relationships>;

export const toVariableSetChanges = (
  attributes: z.infer<typeof updateBody>['data']['attributes'],
): VariableSetChanges => {
  const { global, priority, ...values } = attributes;
  return { ...omitUndefined(values), ...omitNullish({ global, priority }) };
};

export const toTargets = (related: VariableSetRelationships): Partial<VariableSetTargets> =>
  omitUndefined({ workspaces: parseToMany(related?.workspaces), projects: parseToMany(related?.projects) });

export const toNewVariables = (related: VariableSetRelationships): NewVariable[] =>
  (related?.vars?.data ?? []).flatMap((listed) => (listed ? [listed.attributes] : []));

export const toProjectId = (related: VariableSetRelationships): string | null => {
  const parent = related?.parent?.data;
  return parent?.type === 'projects' ? parent.id : null;
};
