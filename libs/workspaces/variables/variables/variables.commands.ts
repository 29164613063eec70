import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { NewVariable, VariableChanges } from './variable.js';
import type { OwnerTarget, VariableRow } from './variables.queries.js';

/** `target` is the workspace or the variable set that owns the variable. */
export type VariableOperations = {
  CreateVariable: Operation<{ target: OwnerTarget; data: NewVariable; actor: Actor }, VariableRow>;
  /** Resolves to null if the variable has been deleted meanwhile. */
  UpdateVariable: Operation<
    { target: OwnerTarget; id: string; changes: VariableChanges; actor: Actor },
    VariableRow | null
  >;
  DeleteVariable: Operation<{ target: OwnerTarget; id: string; actor: Actor }, void>;
};

export class ChangeVariable<T extends keyof VariableOperations> extends AggregateCommand<VariableOperations, T> {}
