import { z } from 'zod';
import {
  count,
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  parameter,
  related,
  sortParameter,
  timestamp,
} from '#api/json-api/description';
import { createBody, updateBody, AgentPoolsController, INCLUDES } from './agent-pools.controller.js';
import { SORTS } from './agent-pools.queries.js';

export const agentPoolSchema = defineResource({
  name: 'AgentPool',
  type: 'agent-pools',
  description:
    'Agents that execute the runs of workspaces in networks that only the agents can reach. A pool without an organization belongs to the site.',
  exampleId: 'apool-5kWz2HcXn8RqTb4M',
  attributes: {
    'agent-count': count('The number of agents with a ping in the last two hours that have not exited or failed.'),
    'created-at': timestamp(),
    name: exampleText('on-premises'),
    'organization-scoped': z.boolean().meta({
      description:
        'Whether all workspaces of the organization may use the pool, except for the excluded ones. Otherwise only the allowed ones may.',
      examples: [true],
    }),
    'remote-runs-enabled': z.boolean().meta({
      description: 'Whether the agents also execute runs of workspaces with the execution mode `remote`.',
    }),
  },
  relationships: {
    agents: related.link(),
    'allowed-projects': related.many('projects'),
    'allowed-workspaces': related.many('workspaces'),
    'authentication-tokens': related.link(),
    'excluded-workspaces': related.many('workspaces'),
    organization: related.one('organizations'),
    workspaces: related.many('workspaces'),
  },
  hasSelfLink: true,
});

const AGENT_POOLS = {
  name: 'Agent pools',
  description: 'Pools of agents, and the workspaces and projects that may use them.',
  resource: agentPoolSchema,
  include: { values: INCLUDES, resources: ['Workspace'] },
};

export const agentPoolsOperations = describeController(AgentPoolsController, AGENT_POOLS, {
  list: {
    query: {
      ...sortParameter(SORTS),
      q: parameter.text('Only pools with this text in their name, ignoring case.'),
      'filter[allowed_workspaces][name]': parameter.text('Only pools that the workspace with this name may use.'),
      'filter[allowed-workspaces][name]': parameter.text('Another name of `filter[allowed_workspaces][name]`.'),
      'filter[allowed_projects][name]': parameter.text('Only pools that the project with this name may use.'),
      'filter[allowed-projects][name]': parameter.text('Another name of `filter[allowed_projects][name]`.'),
    },
  },
  create: { body: describeResourceBody(createBody, { name: 'on-premises' }) },
  listOfSite: {
    summary: 'List the agent pools of the site',
    description: 'For site administrators, by name.',
    query: { q: parameter.text('Only pools with this text in their name, ignoring case.') },
  },
  createOfSite: {
    summary: 'Create an agent pool of the site',
    description:
      'For site administrators. The agents of the pool execute runs in `remote` mode for every organization that has no pool with `remote-runs-enabled` and has not set `site-executors-enabled` to `false`. The pool has only a name.',
    body: describeResourceBody(createBody, { name: 'site' }),
    refusals: { unprocessable: 'The name is taken, or the body contains more than a name.' },
  },
  show: {},
  update: {
    description: 'If the request switches `remote-runs-enabled` on, the server deletes the tokens of the pool.',
    body: describeResourceBody(
      updateBody,
      { 'organization-scoped': false },
      { 'allowed-workspaces': { data: [{ type: 'workspaces', id: 'ws-7hQ2vXbN4kTgYw3D' }] } },
    ),
    events: ['AgentPoolUpdated', 'AuthenticationTokenDestroyed'],
  },
  destroy: {
    summary: 'Delete an agent pool with its tokens',
    refusals: { unprocessable: 'A workspace, a project or the organization uses the pool.' },
    events: ['AgentPoolDeleted', 'AuthenticationTokenDestroyed'],
  },
});
