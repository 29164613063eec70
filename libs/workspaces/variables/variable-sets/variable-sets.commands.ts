import type { DataOf } from '#platform/kernel';
import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { NewVariable } from '../variables/variable.js';
import type { VariableSetCommand, VariableSetTargets } from './variable-set.js';
import type { VariableSetRow } from './variable-sets.queries.js';

export type VariableSetOperations = {
  /** `variables` are created in the same append. */
  CreateVariableSet: Operation<
    {
      organization: string;
      data: DataOf<VariableSetCommand, 'CreateVariableSet'>;
      variables: readonly NewVariable[];
      actor: Actor;
    },
    VariableSetRow
  >;
  /** `variables` are added in the same append. Resolves to null if the set has been deleted meanwhile. */
  UpdateVariableSet: Operation<
    {
      id: string;
      data: DataOf<VariableSetCommand, 'UpdateVariableSet'>;
      variables: readonly NewVariable[];
      actor: Actor;
    },
    VariableSetRow | null
  >;
  ApplyVariableSet: Operation<{ id: string; targets: VariableSetTargets; actor: Actor }, void>;
  WithdrawVariableSet: Operation<{ id: string; targets: VariableSetTargets; actor: Actor }, void>;
  DeleteVariableSet: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeVariableSet<T extends keyof VariableSetOperations> extends AggregateCommand<
  VariableSetOperations,
  T
> {}
