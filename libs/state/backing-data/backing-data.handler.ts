import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { createEventContext, type Actor } from '#access';
import { EventStore, getFirstRowOrNull, expectVersion } from '#event-store';
import { backingData, type BackingDataCommand } from './backing-data.js';
import {
  loadBackingDataForCommand,
  selectStateVersionById,
  type BackingDataForCommand,
  type StateVersionRow,
} from '../state-versions/state-versions.queries.js';

/**
 * Executes a command on the files of one state version. Returns the row after the command; null if the version no
 * longer exists.
 */
export class ChangeBackingData extends Command<StateVersionRow | null> {
  constructor(
    readonly stateVersion: string,
    readonly type: BackingDataCommand['type'],
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ChangeBackingData)
export class BackingDataHandler implements ICommandHandler<ChangeBackingData> {
  constructor(private readonly store: EventStore) {}

  async execute({ stateVersion, type, actor }: ChangeBackingData): Promise<StateVersionRow | null> {
    const { rows } = await this.store.handle({
      decider: backingData,
      load: async () => {
        const found = await loadBackingDataForCommand(this.store.database, actor, stateVersion);
        return { ...(await this.store.restore(stateVersion, backingData, found.snapshot ?? undefined)), found };
      },
      command: ({ found }): BackingDataCommand => toBackingDataCommand(type, found),
      organization: ({ found }) => found.organization,
      // An unneeded version can become needed when the workspace is unlocked, so the decision depends on the
      // workspace's version.
      preconditions: ({ found }) =>
        type === 'SoftDeleteData' ? [expectVersion(found.workspace, found.workspaceVersion)] : [],
      context: createEventContext(actor),
      read: () => [selectStateVersionById(stateVersion, actor)],
    });
    return getFirstRowOrNull<StateVersionRow>(rows);
  }
}

const toBackingDataCommand = (
  type: BackingDataCommand['type'],
  { workspace, isFinalized, isNeeded }: BackingDataForCommand,
): BackingDataCommand =>
  type === 'SoftDeleteData' ? { type, data: { workspace, isFinalized, isNeeded } } : { type, data: { workspace } };
