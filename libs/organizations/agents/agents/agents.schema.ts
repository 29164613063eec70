import { z } from 'zod';
import { defineResource, exampleText, relatedAlways, serverPath, timestamp } from '#api/json-api/description';
import { AGENT_STATUSES } from './agent.js';

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
    status: z.enum(AGENT_STATUSES).meta({
      description:
        'The reported status: `unknown` after 3 minutes without a ping, and `errored` after 2 hours. `exited` stays.',
    }),
  },
  relationships: { 'agent-pool': relatedAlways('agent-pools') },
  links: { self: serverPath('/api/v2/agents/agent-3vTq8LxNc5YbWk7R') },
});
