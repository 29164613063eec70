import { Module } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { AgentPoolsController } from './agent-pools/agent-pools.controller.js';
import { AgentPoolsHandler } from './agent-pools/agent-pools.handler.js';
import { AgentsController } from './agents/agents.controller.js';
import { AgentsHandler } from './agents/agents.handler.js';

@Module({
  imports: [CqrsModule],
  controllers: [AgentPoolsController, AgentsController],
  providers: [AgentPoolsHandler, AgentsHandler],
})
export class AgentsModule {}
