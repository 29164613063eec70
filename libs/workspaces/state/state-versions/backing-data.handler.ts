import { CommandHandler } from '@nestjs/cqrs';
import { type Actor, changeResource } from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  expectVersion,
  getFirstRowOrNull,
  type OperationTable,
  type StreamWrite,
} from '#storage/event-store';
import {
  type StateVersionRow,
  loadBackingDataForCommand,
  selectStateVersionById,
  type BackingDataForCommand,
} from './state-versions.queries.js';
import { backingData, type BackingDataCommand } from '../backing-data/backing-data.js';

/** Resolves to null if the workspace of the state version has been deleted meanwhile. */
type BackingDataOperation = Operation<{ stateVersion: string; actor: Actor }, StateVersionRow | null>;

type BackingDataOperations = {
  SoftDeleteData: BackingDataOperation;
  RestoreData: BackingDataOperation;
  DeleteDataPermanently: BackingDataOperation;
};

export class ChangeBackingData<T extends keyof BackingDataOperations> extends AggregateCommand<
  BackingDataOperations,
  T
> {}

type BackingDataTask = {
  readonly command: (row: BackingDataForCommand) => BackingDataCommand;
  readonly preconditions: (row: BackingDataForCommand) => readonly StreamWrite[];
};

@CommandHandler(ChangeBackingData)
export class BackingDataHandler extends AggregateHandler<BackingDataOperations> {
  protected readonly operations: OperationTable<BackingDataOperations> = {
    SoftDeleteData: (target) =>
      this.append(target, {
        command: ({ workspace, isFinalized, isNeeded }) => ({
          type: 'SoftDeleteData',
          data: { workspace, isFinalized, isNeeded },
        }),
        // An unlock of the workspace can make the version the current one, and so needed.
        preconditions: ({ workspace, workspaceVersion }) => [expectVersion(workspace, workspaceVersion)],
      }),
    RestoreData: (target) =>
      this.append(target, {
        command: ({ workspace }) => ({ type: 'RestoreData', data: { workspace } }),
        preconditions: () => [],
      }),
    DeleteDataPermanently: (target) =>
      this.append(target, {
        command: ({ workspace }) => ({ type: 'DeleteDataPermanently', data: { workspace } }),
        preconditions: () => [],
      }),
  };

  constructor(private readonly store: EventStore) {
    super();
  }

  private async append(
    { stateVersion, actor }: { readonly stateVersion: string; readonly actor: Actor },
    { command, preconditions }: BackingDataTask,
  ): Promise<StateVersionRow | null> {
    const rows = await changeResource(this.store, backingData, {
      actor,
      load: () => loadBackingDataForCommand(this.store.database, actor, stateVersion),
      command,
      writes: preconditions,
      read: () => [selectStateVersionById(stateVersion, actor)],
    });
    return getFirstRowOrNull<StateVersionRow>(rows);
  }
}
