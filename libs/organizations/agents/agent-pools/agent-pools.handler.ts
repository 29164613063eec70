import { CommandHandler } from '@nestjs/cqrs';
import { Clock, Ids, Refusal } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import { type Actor, createResource, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  raiseConflictWhen,
  expectVersion,
  type OperationTable,
  type StreamWrite,
} from '#storage/event-store';
import { prepareTokenDestruction, type TokenDestruction } from '#identity/people';
import {
  type AgentPoolChanges,
  agentPool,
  type NewAgentPool,
  SCOPES,
  type PoolScope,
  type PoolScopes,
} from './agent-pool.js';
import {
  type AgentPoolRow,
  selectAgentPoolById,
  loadAgentPoolForCommand,
  isUsed,
  loadOrganizationForAgentPool,
  loadSiteForAgentPool,
  type AgentPoolForCommand,
  type OrganizationForAgentPool,
  type ScopeTarget,
} from './agent-pools.queries.js';

type AgentPoolOperations = {
  CreateAgentPool: Operation<
    {
      /** Name of the organization; null for a pool of the site. */
      organization: string | null;
      settings: NewAgentPool;
      actor: Actor;
    },
    AgentPoolRow
  >;
  /** Resolves to null if the pool has been deleted meanwhile. */
  UpdateAgentPool: Operation<{ id: string; changes: AgentPoolChanges; actor: Actor }, AgentPoolRow | null>;
  DeleteAgentPool: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeAgentPool<T extends keyof AgentPoolOperations> extends AggregateCommand<AgentPoolOperations, T> {}

const refuseTaken = refuseTakenName(['agent_pools_organization_name_key', 'agent_pools_site_name_key']);

/** Type of the ids in each list, and names for the API. */
const SCOPE_TARGETS = {
  allowedWorkspaces: { name: 'allowed-workspaces', of: 'workspaces', one: 'Workspace' },
  allowedProjects: { name: 'allowed-projects', of: 'projects', one: 'Project' },
  excludedWorkspaces: { name: 'excluded-workspaces', of: 'workspaces', one: 'Workspace' },
} as const satisfies Record<PoolScope, { readonly of: ScopeTarget['of']; readonly name: string; readonly one: string }>;

/** Refuses ids that do not exist in the organization, with a pointer for each. */
const checkTargets = (scopes: Partial<PoolScopes>, targets: readonly ScopeTarget[]): void => {
  const existingTargets = new Set(targets.map(({ of, id }) => `${of} ${id}`));
  const problems = SCOPES.flatMap((scope) => {
    const { name, of, one } = SCOPE_TARGETS[scope];
    return (scopes[scope] ?? []).flatMap((id, index) => {
      if (existingTargets.has(`${of} ${id}`)) return [];
      return [{ detail: `${one} ${id} does not exist`, pointer: `/data/relationships/${name}/data/${index}/id` }];
    });
  });
  if (problems.length > 0) throw new Refusal('unprocessable', problems);
};

/**
 * Requires that the organization and the targets of the lists are not deleted in between, because their deletion would
 * miss the new rows.
 */
const buildPreconditions = ({
  organization,
  organizationVersion,
  targets,
}: OrganizationForAgentPool): StreamWrite[] => [
  ...(organization === null || organizationVersion === null ? [] : [expectVersion(organization, organizationVersion)]),
  ...targets.map(({ id, version }) => expectVersion(id, version)),
];

@CommandHandler(ChangeAgentPool)
export class AgentPoolsHandler extends AggregateHandler<AgentPoolOperations> {
  protected readonly operations: OperationTable<AgentPoolOperations> = {
    CreateAgentPool: (input) => this.create(input),
    UpdateAgentPool: (input) => this.update(input),
    DeleteAgentPool: (input) => this.delete(input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly clock: Clock,
  ) {
    super();
  }

  private async create(input: AgentPoolOperations['CreateAgentPool']['input']): Promise<AgentPoolRow> {
    const { organization, settings, actor } = input;
    const id = this.ids.next('apool');
    const rows = await createResource(this.store, agentPool, {
      id,
      actor,
      load: async () => {
        const parent =
          organization === null
            ? await loadSiteForAgentPool(this.store.database, actor)
            : await loadOrganizationForAgentPool(this.store.database, actor, organization, settings);
        checkTargets(settings, parent.targets);
        return parent;
      },
      command: { type: 'CreateAgentPool', data: { settings, ofSite: organization === null } },
      writes: buildPreconditions,
      read: () => [selectAgentPoolById(id, { actor, now: this.clock.now() })],
    }).catch(refuseTaken);
    return getFirstRow<AgentPoolRow>(rows);
  }

  private async update(input: AgentPoolOperations['UpdateAgentPool']['input']): Promise<AgentPoolRow | null> {
    const { id, changes, actor } = input;
    const rows = await changeResource(this.store, agentPool, {
      actor,
      load: async () => {
        const pool = await loadAgentPoolForCommand(this.store.database, actor, id, changes);
        checkTargets(changes, pool.targets);
        return { ...pool, destruction: await this.prepareTokenDestructionFor(id, pool, changes) };
      },
      command: (pool) => ({ type: 'UpdateAgentPool', data: { changes, ofSite: pool.organization === null } }),
      writes: (pool) => [...buildPreconditions(pool), ...pool.destruction.writes],
      read: ({ destruction }) => [selectAgentPoolById(id, { actor, now: this.clock.now() }), ...destruction.statements],
    }).catch(refuseTaken);
    return getFirstRowOrNull<AgentPoolRow>(rows);
  }

  /**
   * Returns the destruction of the pool's tokens if the pool starts to execute remote runs. Managers of pools may have
   * such tokens, which would then open the state of the whole organization. From then on only owners create tokens of
   * the pool.
   */
  private prepareTokenDestructionFor(
    id: string,
    pool: AgentPoolForCommand,
    { remoteRunsEnabled = false }: AgentPoolChanges,
  ): Promise<TokenDestruction> {
    if (pool.remoteRunsEnabled || !remoteRunsEnabled) return Promise.resolve({ writes: [], statements: [] });
    return prepareTokenDestruction(this.store, id, pool.tokens);
  }

  /** Deletes the tokens of the pool in the same append. */
  private async delete({ id, actor }: AgentPoolOperations['DeleteAgentPool']['input']): Promise<void> {
    await changeResource(this.store, agentPool, {
      actor,
      load: async () => {
        const pool = await loadAgentPoolForCommand(this.store.database, actor, id, {});
        return { ...pool, destruction: await prepareTokenDestruction(this.store, id, pool.tokens) };
      },
      command: ({ use }) => ({ type: 'DeleteAgentPool', data: { use } }),
      writes: ({ destruction }) => destruction.writes,
      // Another request can assign the pool between the count and the lock of the stream.
      read: ({ organization, destruction }) => [...destruction.statements, raiseConflictWhen(isUsed(id, organization))],
    });
  }
}
