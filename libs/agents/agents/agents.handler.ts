import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock, Ids } from '#kernel';
import { EventStore, newStream, expectVersion } from '#event-store';
import { createEventContext, type Actor } from '#access';
import { agent, computeAgentStatus } from './agent.js';
import { selectAgentById, loadAgentForCommand, upsertPing, loadPoolForAgent, type AgentRow } from './agents.queries.js';

/** An agent joins the pool whose token it holds. */
export class RegisterAgent extends Command<AgentRow> {
  constructor(
    readonly pool: string,
    readonly name: string | null,
    readonly actor: Actor,
  ) {
    super();
  }
}

export class DeregisterAgent extends Command<void> {
  constructor(
    readonly id: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(RegisterAgent)
export class RegisterAgentHandler implements ICommandHandler<RegisterAgent> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  async execute({ pool, name, actor }: RegisterAgent): Promise<AgentRow> {
    const id = this.ids.next('agent');
    const data = { pool, name, ipAddress: actor.request.address };
    const { rows } = await this.store.handle({
      decider: agent,
      load: async () => ({ ...newStream(id, agent), place: await loadPoolForAgent(this.store.database, actor, pool) }),
      command: () => ({ type: 'RegisterAgent', data }) as const,
      organization: ({ place }) => place.organization,
      holding: ({ place }) => place.held.map(({ stream, version }) => expectVersion(stream, version)),
      context: createEventContext(actor),
      read: () => [upsertPing(id, 'idle', this.clock.now().toISOString()), selectAgentById(id)],
    });
    return rows[1]?.[0] as AgentRow;
  }
}

@CommandHandler(DeregisterAgent)
export class DeregisterAgentHandler implements ICommandHandler<DeregisterAgent> {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {}

  async execute({ id, actor }: DeregisterAgent): Promise<void> {
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
