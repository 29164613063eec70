import { badRequest, type Decider, type Message } from '#kernel';

/**
 * The files behind a state version, where somebody deletes them.
 *
 *   kept ──soft-delete──► soft-deleted ──delete-permanently──► deleted
 *     ◄──────restore──────────┘
 *
 * Its stream is the version's own, not the workspace's: there the state would grow with every version that is cleaned
 * up. Which version the workspace needs is asked before, and its stream held meanwhile.
 */
export type BackingDataEvent =
  | Message<'StateVersionDataSoftDeleted', { workspace: string }>
  | Message<'StateVersionDataRestored', { workspace: string }>
  | Message<'StateVersionDataPermanentlyDeleted', { workspace: string }>;

export type BackingDataCommand =
  | Message<'SoftDeleteData', { workspace: string; isFinalized: boolean; isNeeded: boolean }>
  | Message<'RestoreData', { workspace: string }>
  | Message<'DeleteDataPermanently', { workspace: string }>;

export type BackingDataState = { readonly status: 'kept' | 'soft-deleted' | 'deleted' };

/** The vendor answers these with a 400. */
export const backingData: Decider<BackingDataState, BackingDataCommand, BackingDataEvent> = {
  version: 1,
  initial: { status: 'kept' },
  decide: {
    SoftDeleteData: ({ workspace, isFinalized, isNeeded }, { status }) => {
      if (status !== 'kept') throw badRequest('The data of this state version has been deleted already');
      if (!isFinalized) throw badRequest('Only the data of a finalized state version can be deleted');
      if (isNeeded) throw badRequest('The data of the current state version cannot be deleted');
      return [{ type: 'StateVersionDataSoftDeleted', data: { workspace } }];
    },
    RestoreData: ({ workspace }, { status }) => {
      // Clients look for `transition not allowed` (clients.md §8).
      if (status === 'deleted') {
        throw badRequest('The data of this state version has been deleted permanently: transition not allowed');
      }
      return status === 'kept' ? [] : [{ type: 'StateVersionDataRestored', data: { workspace } }];
    },
    DeleteDataPermanently: ({ workspace }, { status }) => {
      if (status !== 'soft-deleted') {
        throw badRequest('Only data that is soft deleted can be deleted permanently');
      }
      return [{ type: 'StateVersionDataPermanentlyDeleted', data: { workspace } }];
    },
  },
  evolve: {
    StateVersionDataSoftDeleted: () => ({ status: 'soft-deleted' }),
    StateVersionDataRestored: () => ({ status: 'kept' }),
    StateVersionDataPermanentlyDeleted: () => ({ status: 'deleted' }),
  },
};
