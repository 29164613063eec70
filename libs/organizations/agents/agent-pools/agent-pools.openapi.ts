import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  includeParameter,
  pageParameters,
  sortParameter,
  textParameter,
} from '#api/json-api/description';
import { createBody, updateBody } from './agent-pools.body.js';
import { AgentPoolsController, INCLUDES } from './agent-pools.controller.js';
import { SORTS } from './agent-pools.queries.js';

const AGENT_POOLS = {
  name: 'Agent pools',
  description: 'Pools of agents, and the workspaces and projects that may use them.',
};

const INCLUDED = ['Workspace'];

export const agentPoolsOperations = describeController(AgentPoolsController, AGENT_POOLS, {
  list: {
    operationId: 'listAgentPools',
    summary: 'List the agent pools of an organization',
    query: {
      ...pageParameters(),
      ...includeParameter(INCLUDES),
      ...sortParameter(SORTS),
      q: textParameter('Only pools with this text in their name, ignoring case.'),
      'filter[allowed_workspaces][name]': textParameter('Only pools that the workspace with this name may use.'),
      'filter[allowed-workspaces][name]': textParameter('Another name of `filter[allowed_workspaces][name]`.'),
      'filter[allowed_projects][name]': textParameter('Only pools that the project with this name may use.'),
      'filter[allowed-projects][name]': textParameter('Another name of `filter[allowed_projects][name]`.'),
    },
    answer: describePage('AgentPool', { included: INCLUDED }),
  },
  create: {
    operationId: 'createAgentPool',
    summary: 'Create an agent pool',
    body: describeBody(createBody, { data: { type: 'agent-pools', attributes: { name: 'on-premises' } } }),
    answer: describeDocument('AgentPool'),
  },
  show: {
    operationId: 'getAgentPool',
    summary: 'Show an agent pool',
    query: includeParameter(INCLUDES),
    answer: describeDocument('AgentPool', { included: INCLUDED }),
  },
  update: {
    operationId: 'updateAgentPool',
    summary: 'Change an agent pool',
    description: 'If the request switches `remote-runs-enabled` on, the server deletes the tokens of the pool.',
    body: describeBody(updateBody, {
      data: {
        type: 'agent-pools',
        attributes: { 'organization-scoped': false },
        relationships: { 'allowed-workspaces': { data: [{ type: 'workspaces', id: 'ws-7hQ2vXbN4kTgYw3D' }] } },
      },
    }),
    answer: describeDocument('AgentPool'),
    events: ['AgentPoolUpdated', 'AuthenticationTokenDestroyed'],
  },
  destroy: {
    operationId: 'deleteAgentPool',
    summary: 'Delete an agent pool with its tokens',
    answer: describeEmpty(),
    refusals: { unprocessable: 'A workspace, a project or the organization uses the pool.' },
    events: ['AgentPoolDeleted', 'AuthenticationTokenDestroyed'],
  },
});
