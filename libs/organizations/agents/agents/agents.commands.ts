import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { AgentRow } from './agents.queries.js';

export type AgentOperations = {
  /** The actor is the agent pool whose token the agent has. */
  RegisterAgent: Operation<{ pool: string; name: string | null; actor: Actor }, AgentRow>;
  DeregisterAgent: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeAgent<T extends keyof AgentOperations> extends AggregateCommand<AgentOperations, T> {}
