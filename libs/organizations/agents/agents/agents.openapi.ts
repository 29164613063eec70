import { z } from 'zod';
import {
  count,
  defineResource,
  describeController,
  describeOptionalBody,
  describeResourceBody,
  exampleText,
  parameter,
  related,
  timestamp,
} from '#api/json-api/description';
import { ACCEPTED_PHASES, AGENT_STATUSES } from './agent.js';
import { AgentsController, executorBody, pingBody, registerBody } from './agents.controller.js';

export const agentSchema = defineResource({
  name: 'Agent',
  type: 'agents',
  description: 'A process that executes the runs of the workspaces that use its pool.',
  exampleId: 'agent-3vTq8LxNc5YbWk7R',
  attributes: {
    'created-at': timestamp(),
    'ip-address': exampleText('192.0.2.10', 'The address from which the agent registered.').nullable(),
    'last-ping-at': timestamp().nullable(),
    name: exampleText('builder-1').nullable(),
    version: exampleText('0.3.0', 'The version of the executor.').nullable(),
    capacity: count('How many phases of runs the executor executes at a time.')
      .nullable()
      .meta({ examples: [4] }),
    phases: z
      .array(z.enum(ACCEPTED_PHASES))
      .nullable()
      .meta({ description: 'The phases that the executor accepts.', examples: [['plan', 'apply']] }),
    status: z.enum(AGENT_STATUSES).meta({
      description:
        'The reported status: `unknown` after 3 minutes without a ping, and `errored` after 2 hours. `exited` stays.',
    }),
  },
  relationships: { 'agent-pool': related.always('agent-pools') },
  hasSelfLink: true,
});

const AGENTS = {
  name: 'Agents',
  description: 'The agents of a pool, their registration and their status.',
  resource: agentSchema,
};

export const agentsOperations = describeController(AgentsController, AGENTS, {
  list: {
    summary: 'List the agents of a pool',
    query: {
      'filter[last-ping-since]': parameter.text(
        'Only agents with a ping at or after this ISO 8601 date or time. A time without a zone is UTC.',
      ),
    },
  },
  show: {},
  destroy: { refusals: { 'precondition-failed': 'The agent is idle or busy.' } },
  register: {
    description: 'For agents, with the token of the pool.',
    body: describeOptionalBody(registerBody, { data: { type: 'agents', attributes: { name: 'builder-1' } } }),
  },
  registerExecutor: {
    summary: 'Register an executor in the pool of its token',
    description:
      'For executors, with the token of a pool of an organization or of the site. `protocol-version` is the version of the protocol that the executor speaks, 1.0 if it is absent. `version`, `capacity` and `phases` describe the executor to people, and are stored if all of them are present.',
    body: describeResourceBody(executorBody, {
      name: 'builder-1',
      'protocol-version': '1.0',
      version: '0.3.0',
      capacity: 4,
      phases: ['plan', 'apply'],
    }),
    refusals: { unprocessable: 'The server does not speak this version of the protocol.' },
  },
  ping: {
    summary: 'Report the status of an agent',
    description: 'For agents, with the token of the pool.',
    body: describeResourceBody(pingBody, { status: 'idle' }),
  },
});
