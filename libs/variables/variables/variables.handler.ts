import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, collectRefusals, unprocessable } from '#kernel';
import { EventStore, getFirstRow, getFirstRowOrNull, newStream, expectVersion } from '#event-store';
import { getViolatedConstraint } from '#postgres';
import { createEventContext, type Actor } from '#access';
import { Vault } from '#vault';
import {
  addToStored,
  checkValueLimit,
  checkVariable,
  findSecretToStore,
  variable,
  type NewVariable,
  type VariableCommand,
} from './variable.js';
import {
  loadOwnerForNewVariable,
  selectVariableById,
  loadVariableForCommand,
  type OwnerTarget,
  type VariableRow,
} from './variables.queries.js';

export class CreateVariable extends Command<VariableRow> {
  constructor(
    readonly target: OwnerTarget,
    readonly data: NewVariable,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Changes or deletes a variable of the target. Returns the row, or null after a deletion. */
export class ChangeVariable extends Command<VariableRow | null> {
  constructor(
    readonly target: OwnerTarget,
    readonly id: string,
    readonly command: Exclude<VariableCommand, { type: 'CreateVariable' }>,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** For `catch`: refuses a key that another variable of the owner or of a global set has; rethrows other errors. */
export const refuseTakenKey = (error: unknown): never => {
  const constraint = getViolatedConstraint(error);
  if (constraint === 'variables_owner_key') throw unprocessable('Key has already been taken', 'key');
  if (constraint === 'variables_global_key') {
    throw unprocessable('Key has already been taken by a variable of another global variable set');
  }
  throw error;
};

@CommandHandler(CreateVariable)
export class CreateVariableHandler implements ICommandHandler<CreateVariable> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly vault: Vault,
  ) {}

  async execute({ target, data, actor }: CreateVariable): Promise<VariableRow> {
    const id = this.ids.next('var');
    const { rows } = await this.store
      .handle({
        decider: variable,
        load: async () => {
          const ownerRow = await loadOwnerForNewVariable(this.store.database, actor, target);
          collectRefusals(
            () => addToStored(ownerRow.storedVariables, data),
            () => checkVariable(data),
          );
          return { ...newStream(id, variable), ownerRow };
        },
        command: ({ ownerRow }) =>
          ({ type: 'CreateVariable', data: { ...data, owner: { type: ownerRow.type, id: ownerRow.owner } } }) as const,
        organization: ({ ownerRow }) => ownerRow.organization,
        preconditions: ({ ownerRow }) =>
          ownerRow.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
        context: createEventContext(actor),
        read: ({ ownerRow }) => [
          selectVariableById(id),
          ...(data.sensitive ? [this.vault.storeSecret(id, ownerRow.organization, data.value)] : []),
        ],
      })
      .catch(refuseTakenKey);
    return getFirstRow<VariableRow>(rows);
  }
}

@CommandHandler(ChangeVariable)
export class VariablesHandler implements ICommandHandler<ChangeVariable> {
  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
  ) {}

  async execute({ target, id, command, actor }: ChangeVariable): Promise<VariableRow | null> {
    const { rows } = await this.store
      .handle({
        decider: variable,
        load: async () => {
          const row = await loadVariableForCommand(this.store.database, actor, target, id);
          const loaded = await this.store.restore(id, variable, row.snapshot);
          if (command.type === 'UpdateVariable' && findSecretToStore(command, loaded.state) === null) {
            checkValueLimit(row.storedVariables, command.data.changes.value);
          }
          return { ...loaded, row };
        },
        command: () => command,
        organization: ({ row }) => row.organization,
        // A secret that is added after its owner's deletion would stay in the vault forever.
        preconditions: ({ row }) => row.preconditions.map(({ stream, version }) => expectVersion(stream, version)),
        context: createEventContext(actor),
        read: ({ state, row }) => {
          const secret = findSecretToStore(command, state);
          return [
            selectVariableById(id),
            ...(secret === null ? [] : [this.vault.storeSecret(id, row.organization, secret)]),
          ];
        },
      })
      .catch(refuseTakenKey);
    return getFirstRowOrNull<VariableRow>(rows);
  }
}
