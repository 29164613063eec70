import { CommandHandler } from '@nestjs/cqrs';
import { collectRefusals, Ids } from '#platform/kernel';
import {
  AggregateHandler,
  EventStore,
  expectVersion,
  getFirstRow,
  getFirstRowOrNull,
  newStream,
  type OperationTable,
} from '#storage/event-store';
import { createEventContext } from '#api/access';
import { Vault } from '#storage/vault';
import { addToStored, checkValueLimit, checkVariable, findSecretToStore, variable } from './variable.js';
import { ChangeVariable, type VariableOperations } from './variables.commands.js';
import {
  loadOwnerForNewVariable,
  loadVariableForCommand,
  selectVariableById,
  type VariableRow,
} from './variables.queries.js';
import { refuseTakenKey } from './variables.refusals.js';

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
    const { rows } = await this.store
      .handle({
        decider: variable,
        load: async () => {
          const owner = await loadOwnerForNewVariable(this.store.database, actor, target);
          collectRefusals(
            () => addToStored(owner.storedVariables, data),
            () => checkVariable(data),
          );
          return { ...newStream(id, variable), owner };
        },
        command: ({ owner }) =>
          ({ type: 'CreateVariable', data: { ...data, owner: { type: owner.type, id: owner.owner } } }) as const,
        organization: ({ owner }) => owner.organization,
        preconditions: ({ owner }) => owner.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
        context: createEventContext(actor),
        read: ({ owner }) => [
          selectVariableById(id),
          ...(data.sensitive ? [this.vault.storeSecret(id, owner.organization, data.value)] : []),
        ],
      })
      .catch(refuseTakenKey);
    return getFirstRow<VariableRow>(rows);
  }

  private async update(input: VariableOperations['UpdateVariable']['input']): Promise<VariableRow | null> {
    const { target, id, changes, actor } = input;
    const command = { type: 'UpdateVariable', data: { changes } } as const;
    const { rows } = await this.store
      .handle({
        decider: variable,
        load: async () => {
          const row = await loadVariableForCommand(this.store.database, actor, target, id);
          const loaded = await this.store.restore(id, variable, row.snapshot);
          const secret = findSecretToStore(command, loaded.state);
          if (secret === null) checkValueLimit(row.storedVariables, changes.value);
          return { ...loaded, row, secret };
        },
        command: () => command,
        organization: ({ row }) => row.organization,
        // If the owner is deleted meanwhile, nothing would delete the new secret from the vault.
        preconditions: ({ row }) => row.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
        context: createEventContext(actor),
        read: ({ row, secret }) => [
          selectVariableById(id),
          ...(secret === null ? [] : [this.vault.storeSecret(id, row.organization, secret)]),
        ],
      })
      .catch(refuseTakenKey);
    return getFirstRowOrNull<VariableRow>(rows);
  }

  private async delete({ target, id, actor }: VariableOperations['DeleteVariable']['input']): Promise<void> {
    await this.store.handle({
      decider: variable,
      load: async () => {
        const row = await loadVariableForCommand(this.store.database, actor, target, id);
        return { ...(await this.store.restore(id, variable, row.snapshot)), row };
      },
      command: () => ({ type: 'DeleteVariable', data: {} }) as const,
      organization: ({ row }) => row.organization,
      preconditions: ({ row }) => row.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
      context: createEventContext(actor),
    });
  }
}
