import { aggregate, kindsOf, projectionOf, type Slice } from '#event-store';
import { agent } from './agent.js';
import { agentPool } from './agent-pool.js';
import { agentEvents } from './agents.events.js';
import { agentPings, agentPools, agentPoolScopes, agents } from './agents.projection.js';

export const agentsSlice: Slice = {
  name: 'agents',
  kinds: kindsOf(agentEvents),
  aggregates: [aggregate('apool', agentPool), aggregate('agent', agent)],
  projections: [
    projectionOf(agentPools),
    projectionOf(agentPoolScopes),
    projectionOf(agents),
    projectionOf(agentPings),
  ],
  followers: [],
  migrations: new URL('./sql/', import.meta.url),
};
