import { CommandHandler } from '@nestjs/cqrs';
import { Clock, Ids } from '#platform/kernel';
import { type Actor, createResource, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  type OperationTable,
} from '#storage/event-store';
import { type AgentRow, selectAgentById, loadAgentForCommand, upsertPing, loadPoolForAgent } from './agents.queries.js';
import { agent, computeAgentStatus, type ExecutorFacts } from './agent.js';

type AgentOperations = {
  /** The actor is the agent pool whose token the agent has. */
  RegisterAgent: Operation<
    { pool: string; name: string | null; executor: ExecutorFacts | null; actor: Actor },
    AgentRow
  >;
  DeregisterAgent: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeAgent<T extends keyof AgentOperations> extends AggregateCommand<AgentOperations, T> {}

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

  private async register({
    pool,
    name,
    executor,
    actor,
  }: AgentOperations['RegisterAgent']['input']): Promise<AgentRow> {
    const id = this.ids.next('agent');
    const rows = await createResource(this.store, agent, {
      id,
      actor,
      load: () => loadPoolForAgent(this.store.database, actor, pool),
      command: { type: 'RegisterAgent', data: { pool, name, ipAddress: actor.request.address, executor } },
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
