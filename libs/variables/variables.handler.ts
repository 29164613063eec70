import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, refuseTogether, unprocessable } from '#kernel';
import { EventStore, brokenUnique, firstRow, firstRowOrNull, unborn, unchanged } from '#event-store';
import { contextOf, type Actor } from '#access';
import { Vault } from '#vault';
import {
  addTo,
  checkRoomForValue,
  checkVariable,
  secretOf,
  variable,
  type NewVariable,
  type VariableCommand,
} from './variable.js';
import {
  placeForNewVariable,
  variableById,
  variableForCommand,
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

/** A command for one variable of the target; resolves to how it stands then, null when it is gone. */
export class ToVariable extends Command<VariableRow | null> {
  constructor(
    readonly target: OwnerTarget,
    readonly id: string,
    readonly command: Exclude<VariableCommand, { type: 'CreateVariable' }>,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** For `catch`: a key that is unique among the owner's variables, or among those of global sets. */
export const refuseTakenKey = (error: unknown): never => {
  const constraint = brokenUnique(error);
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
          const place = await placeForNewVariable(this.store.database, actor, target);
          refuseTogether(
            () => addTo(place.others, data),
            () => checkVariable(data),
          );
          return { ...unborn(id, variable), place };
        },
        command: ({ place }) =>
          ({ type: 'CreateVariable', data: { ...data, owner: { type: place.type, id: place.owner } } }) as const,
        organization: ({ place }) => place.organization,
        holding: ({ place }) => place.held.map(({ stream, version }) => unchanged(stream, version)),
        context: contextOf(actor),
        read: ({ place }) => [
          variableById(id),
          ...(data.sensitive ? [this.vault.seal(id, place.organization, data.value)] : []),
        ],
      })
      .catch(refuseTakenKey);
    return firstRow<VariableRow>(rows);
  }
}

@CommandHandler(ToVariable)
export class VariablesHandler implements ICommandHandler<ToVariable> {
  constructor(
    private readonly store: EventStore,
    private readonly vault: Vault,
  ) {}

  async execute({ target, id, command, actor }: ToVariable): Promise<VariableRow | null> {
    const { rows } = await this.store
      .handle({
        decider: variable,
        load: async () => {
          const found = await variableForCommand(this.store.database, actor, target, id);
          const loaded = await this.store.restore(id, variable, found.snapshot);
          if (command.type === 'UpdateVariable' && secretOf(command, loaded.state) === null) {
            checkRoomForValue(found.others, command.data.changes.value);
          }
          return { ...loaded, found };
        },
        command: () => command,
        organization: ({ found }) => found.organization,
        // A secret that comes after its owner's end would stay in the vault.
        holding: ({ found }) => found.held.map(({ stream, version }) => unchanged(stream, version)),
        context: contextOf(actor),
        read: ({ state, found }) => {
          const secret = secretOf(command, state);
          return [variableById(id), ...(secret === null ? [] : [this.vault.seal(id, found.organization, secret)])];
        },
      })
      .catch(refuseTakenKey);
    return firstRowOrNull<VariableRow>(rows);
  }
}
