import { z } from 'zod';
import {
  count,
  defineResource,
  exampleText,
  relatedAlways,
  relatedLink,
  relatedMany,
  serverPath,
  timestamp,
} from '#api/json-api/description';

export const agentPoolSchema = defineResource({
  name: 'AgentPool',
  type: 'agent-pools',
  description: 'Agents that execute the runs of workspaces in networks that only the agents can reach.',
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
    agents: relatedLink(),
    'allowed-projects': relatedMany('projects'),
    'allowed-workspaces': relatedMany('workspaces'),
    'authentication-tokens': relatedLink(),
    'excluded-workspaces': relatedMany('workspaces'),
    organization: relatedAlways('organizations'),
    workspaces: relatedMany('workspaces'),
  },
  links: { self: serverPath('/api/v2/agent-pools/apool-5kWz2HcXn8RqTb4M') },
});
