import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { contextOf, type Actor } from '#access';
import { EventStore, firstRowOrNull, unchanged } from '#event-store';
import { backingData, type BackingDataCommand } from './backing-data.js';
import {
  backingDataForCommand,
  stateVersionById,
  type BackingDataForCommand,
  type StateVersionRow,
} from './state-versions.queries.js';

/** A command for the files behind one state version; resolves to how it stands then, null when it is gone. */
export class ToBackingData extends Command<StateVersionRow | null> {
  constructor(
    readonly stateVersion: string,
    readonly type: BackingDataCommand['type'],
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ToBackingData)
export class BackingDataHandler implements ICommandHandler<ToBackingData> {
  constructor(private readonly store: EventStore) {}

  async execute({ stateVersion, type, actor }: ToBackingData): Promise<StateVersionRow | null> {
    const { rows } = await this.store.handle({
      decider: backingData,
      load: async () => {
        const found = await backingDataForCommand(this.store.database, actor, stateVersion);
        return { ...(await this.store.restore(stateVersion, backingData, found.snapshot ?? undefined)), found };
      },
      command: ({ found }): BackingDataCommand => commandOf(type, found),
      organization: ({ found }) => found.organization,
      // What is not needed at this version of the workspace may be, once it has been unlocked.
      holding: ({ found }) => (type === 'SoftDeleteData' ? [unchanged(found.workspace, found.workspaceVersion)] : []),
      context: contextOf(actor),
      read: () => [stateVersionById(stateVersion, actor)],
    });
    return firstRowOrNull<StateVersionRow>(rows);
  }
}

const commandOf = (
  type: BackingDataCommand['type'],
  { workspace, isFinalized, isNeeded }: BackingDataForCommand,
): BackingDataCommand =>
  type === 'SoftDeleteData' ? { type, data: { workspace, isFinalized, isNeeded } } : { type, data: { workspace } };
