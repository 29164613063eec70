import { z } from 'zod';
import { given, resourceBody, said, toManyInput, toManyOf, valuesOf } from '#json-api';
import type { AgentPoolChanges } from './agent-pool.js';

const switches = { 'organization-scoped': z.boolean().nullish(), 'remote-runs-enabled': z.boolean().nullish() };

const relationships = z
  .object({
    'allowed-workspaces': toManyInput('workspaces'),
    'allowed-projects': toManyInput('projects'),
    'excluded-workspaces': toManyInput('workspaces'),
  })
  .optional();

export const createBody = resourceBody('agent-pools', z.object({ name: z.string(), ...switches }), relationships);
export const updateBody = resourceBody(
  'agent-pools',
  z.object({ name: z.string().optional(), ...switches }).default({}),
  relationships,
);

type Resource = Pick<z.infer<typeof updateBody>['data'], 'attributes' | 'relationships'>;

/** What a request changes, in our names. */
export const changesOf = ({ attributes, relationships: related }: Resource): AgentPoolChanges => ({
  ...valuesOf(said(attributes)),
  ...given({
    allowedWorkspaces: toManyOf(related?.['allowed-workspaces']),
    allowedProjects: toManyOf(related?.['allowed-projects']),
    excludedWorkspaces: toManyOf(related?.['excluded-workspaces']),
  }),
});
