import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describeOptionalBody,
  describePage,
  pageParameters,
  textParameter,
} from '#api/json-api/description';
import { AgentsController, pingBody, registerBody } from './agents.controller.js';

const AGENTS = { name: 'Agents', description: 'The agents of a pool, their registration and their status.' };

export const agentsOperations = describeController(AgentsController, AGENTS, {
  list: {
    operationId: 'listAgents',
    summary: 'List the agents of a pool',
    query: {
      ...pageParameters(),
      'filter[last-ping-since]': textParameter(
        'Only agents with a ping at or after this ISO 8601 date or time. A time without a zone is UTC.',
      ),
    },
    answer: describePage('Agent'),
  },
  show: { operationId: 'getAgent', summary: 'Show an agent', answer: describeDocument('Agent') },
  destroy: {
    operationId: 'deleteAgent',
    summary: 'Delete an agent',
    answer: describeEmpty(),
    refusals: { 'precondition-failed': 'The agent is idle or busy.' },
  },
  register: {
    operationId: 'registerAgent',
    summary: 'Register an agent',
    description: 'For agents, with the token of the pool.',
    body: describeOptionalBody(registerBody, { data: { type: 'agents', attributes: { name: 'builder-1' } } }),
    answer: describeDocument('Agent'),
  },
  ping: {
    operationId: 'pingAgent',
    summary: 'Report the status of an agent',
    description: 'For agents, with the token of the pool.',
    body: describeBody(pingBody, { data: { type: 'agents', attributes: { status: 'idle' } } }),
    answer: describeDocument('Agent'),
  },
});
