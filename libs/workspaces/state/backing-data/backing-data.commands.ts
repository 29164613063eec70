import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { StateVersionRow } from '../state-versions/state-versions.queries.js';

/** Resolves to null if the workspace of the state version has been deleted meanwhile. */
type BackingDataOperation = Operation<{ stateVersion: string; actor: Actor }, StateVersionRow | null>;

export type BackingDataOperations = {
  SoftDeleteData: BackingDataOperation;
  RestoreData: BackingDataOperation;
  DeleteDataPermanently: BackingDataOperation;
};

export class ChangeBackingData<T extends keyof BackingDataOperations> extends AggregateCommand<
  BackingDataOperations,
  T
> {}
