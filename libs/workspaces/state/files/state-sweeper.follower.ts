import { WORKSPACE_ENDS } from '#platform/kernel';
import { createFileSweeper, type BlobStore } from '#storage/blob-store';
import type { Follower } from '#storage/event-store';
import type { WorkspaceEvent } from '#workspaces/workspaces';
import type { BackingDataEvent } from '../backing-data/backing-data.js';
import { StateFiles } from './state.files.js';

type StateFileEvent =
  | Extract<WorkspaceEvent, { type: 'StateVersionCreated' | 'StateVersionDiscarded' | 'StateVersionErrored' }>
  | Extract<BackingDataEvent, { type: 'StateVersionDataPermanentlyDeleted' }>;

/** Removes the files of deleted state versions, and of versions whose data was permanently deleted. */
export const createStateSweeper = (blobs: BlobStore): Follower => {
  // Without encryption, because removing files needs no key.
  const files = new StateFiles(blobs);
  return createFileSweeper<StateFileEvent>({
    name: 'state_sweeper',
    table: 'state.kept_files',
    ownerEnds: WORKSPACE_ENDS,
    on: {
      StateVersionCreated: ({ id }, { stream }) => ({ stored: id, owner: stream }),
      StateVersionDiscarded: ({ id }) => ({ removed: id }),
      StateVersionErrored: ({ id }) => ({ removed: id }),
      StateVersionDataPermanentlyDeleted: (_, { stream }) => ({ removed: stream }),
    },
    remove: (id) => files.remove(id),
  });
};
