import { fileSweeper, type BlobStore } from '#blob-store';
import type { Follower } from '#event-store';
import { ConfigurationFiles } from './configuration-version.files.js';
import type { WorkspaceEvent } from '#workspaces';
import type { ConfigurationVersionEvent } from './configuration-version.js';

type Source = Extract<
  ConfigurationVersionEvent,
  {
    type:
      | 'ConfigurationVersionCreated'
      | 'ConfigurationVersionErrored'
      | 'ConfigurationVersionArchived'
      | 'ConfigurationVersionPermanentlyDeleted';
  }
>;

/** Removes the archives of configuration versions that are gone, archived or deleted for good. */
export const configurationSweeper = (blobs: BlobStore): Follower => {
  // Only removed, so no key is needed here.
  const files = new ConfigurationFiles(blobs);
  return fileSweeper<Source>({
    name: 'configuration_sweeper',
    table: 'runs.kept_archives',
    ownerEnds: 'WorkspaceDeleted' satisfies WorkspaceEvent['type'],
    on: {
      ConfigurationVersionCreated: ({ workspace }, { stream }) => ({ born: stream, owner: workspace }),
      ConfigurationVersionErrored: (_, { stream }) => ({ gone: stream }),
      ConfigurationVersionArchived: (_, { stream }) => ({ gone: stream }),
      ConfigurationVersionPermanentlyDeleted: (_, { stream }) => ({ gone: stream }),
    },
    remove: (id) => files.remove(id),
  });
};
