import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { defineAggregate, toProjection, type ModuleDefinition } from '#storage/event-store';
import { agent } from './agents/agent.js';
import { agentPool } from './agent-pools/agent-pool.js';
import { agentEvents } from './agents.events.js';
import { AGENT_POOL_NAMES } from './agent-pools/agent-pool-names.js';
import { agentPings, agentPoolNames, agentPools, agentPoolScopes, agents } from './agents.projection.js';
import { AgentPoolsController } from './agent-pools/agent-pools.controller.js';
import { AgentPoolsHandler } from './agent-pools/agent-pools.handler.js';
import { AgentsController } from './agents/agents.controller.js';
import { AgentsHandler } from './agents/agents.handler.js';

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

@Module({
  imports: [CqrsModule],
  controllers: [AgentPoolsController, AgentsController],
  providers: [AgentPoolsHandler, AgentsHandler],
})
export class AgentsModule {}
