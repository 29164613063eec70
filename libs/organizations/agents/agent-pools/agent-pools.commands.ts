import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { AgentPoolChanges } from './agent-pool.js';
import type { AgentPoolRow } from './agent-pools.queries.js';

export type AgentPoolOperations = {
  CreateAgentPool: Operation<
    {
      organization: string;
      settings: AgentPoolChanges & { name: string };
      actor: Actor;
    },
    AgentPoolRow
  >;
  /** Resolves to null if the pool has been deleted meanwhile. */
  UpdateAgentPool: Operation<{ id: string; changes: AgentPoolChanges; actor: Actor }, AgentPoolRow | null>;
  DeleteAgentPool: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeAgentPool<T extends keyof AgentPoolOperations> extends AggregateCommand<AgentPoolOperations, T> {}
