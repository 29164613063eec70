import { CommandHandler } from '@nestjs/cqrs';
import { Clock, Ids } from '#platform/kernel';
import {
  AggregateHandler,
  EventStore,
  expectVersion,
  getFirstRow,
  newStream,
  type OperationTable,
} from '#storage/event-store';
import { createEventContext } from '#api/access';
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
    const data = { pool, name, ipAddress: actor.request.address };
    const { rows } = await this.store.handle({
      decider: agent,
      load: async () => ({ ...newStream(id, agent), parent: await loadPoolForAgent(this.store.database, actor, pool) }),
      command: () => ({ type: 'RegisterAgent', data }) as const,
      organization: ({ parent }) => parent.organization,
      preconditions: ({ parent }) => parent.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
      context: createEventContext(actor),
      read: () => [upsertPing(id, 'idle', this.clock.now().toISOString()), selectAgentById(id)],
    });
    return getFirstRow<AgentRow>(rows.slice(1));
  }

  private async deregister({ id, actor }: AgentOperations['DeregisterAgent']['input']): Promise<void> {
    await this.store.handle({
      decider: agent,
      load: async () => {
        const row = await loadAgentForCommand(this.store.database, actor, id);
        return { ...(await this.store.restore(id, agent, row.snapshot)), row };
      },
      command: ({ row }) =>
        ({ type: 'DeregisterAgent', data: { status: computeAgentStatus(row, this.clock.now()) } }) as const,
      organization: ({ row }) => row.organization,
      context: createEventContext(actor),
    });
  }
}
