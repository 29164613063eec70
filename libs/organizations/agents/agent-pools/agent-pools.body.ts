import { z } from 'zod';
import { omitUndefined, resourceBody, omitNullish, toManyInput, parseToMany, fromAttributes } from '#api/json-api';
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

type AgentPoolUpdateData = Pick<z.infer<typeof updateBody>['data'], 'attributes' | 'relationships'>;

export const toAgentPoolChanges = ({ attributes, relationships: related }: AgentPoolUpdateData): AgentPoolChanges => ({
  ...fromAttributes(omitNullish(attributes)),
  ...omitUndefined({
    allowedWorkspaces: parseToMany(related?.['allowed-workspaces']),
    allowedProjects: parseToMany(related?.['allowed-projects']),
    excludedWorkspaces: parseToMany(related?.['excluded-workspaces']),
  }),
});
