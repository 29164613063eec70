import { CommandHandler } from '@nestjs/cqrs';
import { collectRefusals, Ids } from '#platform/kernel';
import { type Actor, createResource, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  getFirstRow,
  getFirstRowOrNull,
  type OperationTable,
} from '#storage/event-store';
import { Vault } from '#storage/vault';
import {
  type NewVariable,
  type VariableChanges,
  addToStored,
  checkValueLimit,
  checkVariable,
  findSecretToStore,
  variable,
} from './variable.js';
import {
  type OwnerTarget,
  type VariableRow,
  loadOwnerForNewVariable,
  loadVariableForCommand,
  selectVariableById,
} from './variables.queries.js';
import { refuseTakenKey } from './variables.refusals.js';

/** `target` is the workspace or the variable set that owns the variable. */
type VariableOperations = {
  CreateVariable: Operation<{ target: OwnerTarget; data: NewVariable; actor: Actor }, VariableRow>;
  /** Resolves to null if the variable has been deleted meanwhile. */
  UpdateVariable: Operation<
    { target: OwnerTarget; id: string; changes: VariableChanges; actor: Actor },
    VariableRow | null
  >;
  DeleteVariable: Operation<{ target: OwnerTarget; id: string; actor: Actor }, void>;
};

export class ChangeVariable<T extends keyof VariableOperations> extends AggregateCommand<VariableOperations, T> {}

@CommandHandler(ChangeVariable)
export class VariablesHandler extends AggregateHandler<VariableOperations> {
  protected readonly operations: OperationTable<VariableOperations> = {
    CreateVariable: (input) => this.create(input),
    UpdateVariable: (input) => this.update(input),
    DeleteVariable: (input) => this.delete(input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly vault: Vault,
  ) {
    super();
  }

  private async create({ target, data, actor }: VariableOperations['CreateVariable']['input']): Promise<VariableRow> {
    const id = this.ids.next('var');
    const rows = await createResource(this.store, variable, {
      id,
      actor,
      load: async () => {
        const owner = await loadOwnerForNewVariable(this.store.database, actor, target);
        collectRefusals(
          () => addToStored(owner.storedVariables, data),
          () => checkVariable(data),
        );
        return owner;
      },
      command: ({ type, owner }) => ({ type: 'CreateVariable', data: { ...data, owner: { type, id: owner } } }),
      read: ({ organization }) => [
        selectVariableById(id),
        ...(data.sensitive ? [this.vault.storeSecret(id, organization, data.value)] : []),
      ],
    }).catch(refuseTakenKey);
    return getFirstRow<VariableRow>(rows);
  }

  private async update(input: VariableOperations['UpdateVariable']['input']): Promise<VariableRow | null> {
    const { target, id, changes, actor } = input;
    const command = { type: 'UpdateVariable', data: { changes } } as const;
    const rows = await changeResource(this.store, variable, {
      actor,
      // If the owner is deleted meanwhile, nothing would delete the new secret from the vault. Therefore the row lists
      // the owner's version.
      load: () => loadVariableForCommand(this.store.database, actor, target, id),
      command: ({ storedVariables }, state) => {
        if (findSecretToStore(command, state) === null) checkValueLimit(storedVariables, changes.value);
        return command;
      },
      read: ({ organization }, state) => {
        const secret = findSecretToStore(command, state);
        return [selectVariableById(id), ...(secret === null ? [] : [this.vault.storeSecret(id, organization, secret)])];
      },
    }).catch(refuseTakenKey);
    return getFirstRowOrNull<VariableRow>(rows);
  }

  private async delete({ target, id, actor }: VariableOperations['DeleteVariable']['input']): Promise<void> {
    await changeResource(this.store, variable, {
      actor,
      load: () => loadVariableForCommand(this.store.database, actor, target, id),
      command: { type: 'DeleteVariable', data: {} },
    });
  }
}
