import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { agent } from './agents/agent.js';
import { agentPool } from './agent-pools/agent-pool.js';
import { agentEvents } from './agents.events.js';
import { AGENT_POOL_NAMES } from './agent-pools/agent-pool-names.js';
import { agentPings, agentPoolNames, agentPools, agentPoolScopes, agents } from './agents.projection.js';

export const agentsDefinition: ModuleDefinition = {
  name: 'agents',
  kinds: agentEvents,
  aggregates: [defineAggregate('apool', agentPool), defineAggregate('agent', agent)],
  projections: [
    toProjection(agentPools),
    toProjection(agentPoolNames),
    toProjection(agentPoolScopes),
    toProjection(agents),
    toProjection(agentPings),
  ],
  followers: [],
  uniqueNames: [AGENT_POOL_NAMES],
  migrations: new URL('./sql/', import.meta.url),
  tablesOutsideLog: [
    {
      table: 'agents.pings',
      backup: 'rows',
      organizationExport: { without: 'agents register again, because their tokens are not moved' },
    },
  ],
};
