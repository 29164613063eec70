import { CommandHandler } from '@nestjs/cqrs';
import { Clock, Ids } from '#platform/kernel';
import { AggregateHandler, EventStore, getFirstRow, type OperationTable } from '#storage/event-store';
import { createResource, changeResource } from '#api/access';
import { agent, computeAgentStatus } from './agent.js';
import { ChangeAgent, type AgentOperations } from './agents.commands.js';
import { selectAgentById, loadAgentForCommand, upsertPing, loadPoolForAgent, type AgentRow } from './agents.queries.js';

@CommandHandler(ChangeAgent)
export class AgentsHandler extends AggregateHandler<AgentOperations> {
  protected readonly operations: OperationTable<AgentOperations> = {
    RegisterAgent: (input) => this.register(input),
    DeregisterAgent: (input) => this.deregister(input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {
    super();
  }

  private async register({ pool, name, actor }: AgentOperations['RegisterAgent']['input']): Promise<AgentRow> {
    const id = this.ids.next('agent');
    const rows = await createResource(this.store, agent, {
      id,
      actor,
      load: () => loadPoolForAgent(this.store.database, actor, pool),
      command: { type: 'RegisterAgent', data: { pool, name, ipAddress: actor.request.address } },
      read: () => [upsertPing(id, 'idle', this.clock.now().toISOString()), selectAgentById(id)],
    });
    return getFirstRow<AgentRow>(rows.slice(1));
  }

  private async deregister({ id, actor }: AgentOperations['DeregisterAgent']['input']): Promise<void> {
    await changeResource(this.store, agent, {
      actor,
      load: () => loadAgentForCommand(this.store.database, actor, id),
      command: (row) => ({ type: 'DeregisterAgent', data: { status: computeAgentStatus(row, this.clock.now()) } }),
    });
  }
}
