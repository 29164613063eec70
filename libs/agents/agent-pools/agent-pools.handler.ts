import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock, Ids, Refusal } from '#kernel';
import {
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  raiseConflictWhen,
  newStream,
  expectVersion,
  type StreamWrite,
} from '#event-store';
import { refuseTakenName } from '#postgres';
import { createEventContext, type Actor } from '#access';
import { prepareTokenDestruction, type TokenDestruction } from '#people';
import {
  agentPool,
  SCOPES,
  type AgentPoolChanges,
  type AgentPoolCommand,
  type PoolScope,
  type PoolScopes,
} from './agent-pool.js';
import {
  selectAgentPoolById,
  loadAgentPoolForCommand,
  isUsed,
  loadOrganizationForAgentPool,
  type AgentPoolForCommand,
  type AgentPoolRow,
  type OrganizationForAgentPool,
  type ScopeTarget,
} from './agent-pools.queries.js';

type CommandOf<T extends AgentPoolCommand['type']> = Extract<AgentPoolCommand, { type: T }>;

export class CreateAgentPool extends Command<AgentPoolRow> {
  constructor(
    readonly organization: string,
    readonly command: CommandOf<'CreateAgentPool'>,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** A command for one pool; resolves to how it stands then, null when it is gone. */
export class ChangeAgentPool extends Command<AgentPoolRow | null> {
  constructor(
    readonly id: string,
    readonly command: CommandOf<'UpdateAgentPool'> | { readonly type: 'DeleteAgentPool' },
    readonly actor: Actor,
  ) {
    super();
  }
}

const refuseTaken = refuseTakenName('agent_pools_organization_name_key');

/** What each list holds, in the API's words. */
const SCOPE_TARGETS = {
  allowedWorkspaces: { name: 'allowed-workspaces', of: 'workspaces', one: 'Workspace' },
  allowedProjects: { name: 'allowed-projects', of: 'projects', one: 'Project' },
  excludedWorkspaces: { name: 'excluded-workspaces', of: 'workspaces', one: 'Workspace' },
} as const satisfies Record<PoolScope, { readonly of: ScopeTarget['of']; readonly name: string; readonly one: string }>;

/** Refuses ids that are none of the organization's, each by its place in the request. */
const checkTargets = (scopes: Partial<PoolScopes>, targets: readonly ScopeTarget[]): void => {
  const known = new Set(targets.map(({ of, id }) => `${of} ${id}`));
  const problems = SCOPES.flatMap((scope) => {
    const { name, of, one } = SCOPE_TARGETS[scope];
    return (scopes[scope] ?? []).flatMap((id, index) => {
      if (known.has(`${of} ${id}`)) return [];
      return [{ detail: `${one} ${id} does not exist`, pointer: `/data/relationships/${name}/data/${index}/id` }];
    });
  });
  if (problems.length > 0) throw new Refusal('unprocessable', problems);
};

/** Neither the organization nor what the lists name is deleted meanwhile: its rows would stay. */
const buildPreconditions = ({
  organization,
  organizationVersion,
  targets,
}: OrganizationForAgentPool): StreamWrite[] => [
  expectVersion(organization, organizationVersion),
  ...targets.map(({ id, version }) => expectVersion(id, version)),
];

@CommandHandler(CreateAgentPool)
export class CreateAgentPoolHandler implements ICommandHandler<CreateAgentPool> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {}

  async execute({ organization, command, actor }: CreateAgentPool): Promise<AgentPoolRow> {
    const id = this.ids.next('apool');
    const { rows } = await this.store
      .handle({
        decider: agentPool,
        load: async () => {
          const place = await loadOrganizationForAgentPool(this.store.database, actor, organization, command.data);
          checkTargets(command.data, place.targets);
          return { ...newStream(id, agentPool), place };
        },
        command: () => command,
        organization: ({ place }) => place.organization,
        holding: ({ place }) => buildPreconditions(place),
        context: createEventContext(actor),
        read: () => [selectAgentPoolById(id, { actor, now: this.clock.now() })],
      })
      .catch(refuseTaken);
    return getFirstRow<AgentPoolRow>(rows);
  }
}

@CommandHandler(ChangeAgentPool)
export class AgentPoolsHandler implements ICommandHandler<ChangeAgentPool> {
  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {}

  execute({ id, command, actor }: ChangeAgentPool): Promise<AgentPoolRow | null> {
    return command.type === 'DeleteAgentPool' ? this.remove(id, actor) : this.update(id, command, actor);
  }

  private async update(id: string, command: CommandOf<'UpdateAgentPool'>, actor: Actor): Promise<AgentPoolRow | null> {
    const { changes } = command.data;
    const { rows } = await this.store
      .handle({
        decider: agentPool,
        load: async () => {
          const found = await loadAgentPoolForCommand(this.store.database, actor, id, changes);
          checkTargets(changes, found.targets);
          const tokens = await this.tokensToDestroy(id, found, changes);
          return { ...(await this.store.restore(id, agentPool, found.snapshot)), found, tokens };
        },
        command: () => command,
        organization: ({ found }) => found.organization,
        holding: ({ found, tokens }) => [...buildPreconditions(found), ...tokens.writes],
        context: createEventContext(actor),
        read: ({ tokens }) => [selectAgentPoolById(id, { actor, now: this.clock.now() }), ...tokens.statements],
      })
      .catch(refuseTaken);
    return getFirstRowOrNull<AgentPoolRow>(rows);
  }

  /**
   * A manager of pools may hold tokens of a pool. These tokens must not open the state of the whole organization, so
   * they end in the append that lets the pool execute remote runs. Only owners make tokens for it from then on.
   */
  private tokensToDestroy(
    id: string,
    found: AgentPoolForCommand,
    { remoteRunsEnabled = false }: AgentPoolChanges,
  ): Promise<TokenDestruction> {
    if (found.remoteRunsEnabled || !remoteRunsEnabled) return Promise.resolve({ writes: [], statements: [] });
    return prepareTokenDestruction(this.store, id, found.tokens);
  }

  /** Its tokens go with it, in the same append. */
  private async remove(id: string, actor: Actor): Promise<null> {
    await this.store.handle({
      decider: agentPool,
      load: async () => {
        const found = await loadAgentPoolForCommand(this.store.database, actor, id, {});
        const tokens = await prepareTokenDestruction(this.store, id, found.tokens);
        return { ...(await this.store.restore(id, agentPool, found.snapshot)), found, tokens };
      },
      command: ({ found: { use } }) => ({ type: 'DeleteAgentPool', data: { use } }) as const,
      organization: ({ found }) => found.organization,
      holding: ({ tokens }) => tokens.writes,
      context: createEventContext(actor),
      // Somebody may have chosen it in between the count and the lock.
      read: ({ found, tokens }) => [...tokens.statements, raiseConflictWhen(isUsed(id, found.organization))],
    });
    return null;
  }
}
