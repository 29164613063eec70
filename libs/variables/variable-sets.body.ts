import { z } from 'zod';
import { given, ID, identifiersBody, refused, resourceBody, said, toManyInput, toManyOf, typeOf } from '#json-api';
import type { Targets, VariableSetChanges } from './variable-set.js';
import type { NewVariable } from './variable.js';
import { newVariable } from './variables.body.js';

const VARIABLES_AT_MOST = 500;

/** Whole definitions make variables; mere identifiers are what a client has read and sends back. */
const listedVariable = z.union([
  z.object({ type: typeOf('vars'), id: z.undefined().optional(), attributes: newVariable }),
  z.object({ type: typeOf('vars'), id: ID }).transform(() => null),
]);

const relationships = z
  .object({
    workspaces: toManyInput('workspaces'),
    projects: toManyInput('projects'),
    stacks: refused('stacks are not built'),
    vars: z.object({ data: z.array(listedVariable).max(VARIABLES_AT_MOST).nullish() }).optional(),
    parent: z.object({ data: z.object({ type: typeOf('organizations', 'projects'), id: ID }).nullish() }).optional(),
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

/** The bodies that name what a set is applied to or withdrawn from. */
export const targetBodies = { workspaces: identifiersBody('workspaces'), projects: identifiersBody('projects') };

type Related = z.infer<typeof relationships>;

/** What a request changes. */
export const changesOf = (attributes: z.infer<typeof updateBody>['data']['attributes']): VariableSetChanges => {
  const { global, priority, ...values } = attributes;
  return { ...given(values), ...said({ global, priority }) };
};

/** Lists that are given. */
export const targetsIn = (related: Related): Partial<Targets> =>
  given({ workspaces: toManyOf(related?.workspaces), projects: toManyOf(related?.projects) });

export const variablesIn = (related: Related): NewVariable[] =>
  (related?.vars?.data ?? []).flatMap((listed) => (listed ? [listed.attributes] : []));

export const projectIn = (related: Related): string | null => {
  const parent = related?.parent?.data;
  return parent?.type === 'projects' ? parent.id : null;
};
