import { createFileSweeper, type BlobStore } from '#blob-store';
import type { Follower } from '#event-store';
import { ConfigurationFiles } from './configuration-version.files.js';
import type { WorkspaceDeleted } from '#kernel';
import type { ConfigurationVersionEvent } from './configuration-version.js';

type ConfigurationFileEvent = Extract<
  ConfigurationVersionEvent,
  {
    type:
      | 'ConfigurationVersionCreated'
      | 'ConfigurationVersionReplaced'
      | 'ConfigurationVersionErrored'
      | 'ConfigurationVersionArchived'
      | 'ConfigurationVersionPermanentlyDeleted';
  }
>;

/** Removes the archives of configuration versions that are gone, archived or deleted for good, and those that were replaced. */
export const createConfigurationSweeper = (blobs: BlobStore): Follower => {
  // Only removed, so no key is needed here.
  const files = new ConfigurationFiles(blobs);
  return createFileSweeper<ConfigurationFileEvent>({
    name: 'configuration_sweeper',
    table: 'runs.kept_archives',
    ownerEnds: 'WorkspaceDeleted' satisfies WorkspaceDeleted['type'],
    on: {
      ConfigurationVersionCreated: ({ workspace }, { stream }) => ({ stored: stream, owner: workspace }),
      ConfigurationVersionReplaced: ({ archive }, { stream }) => ({ removed: `${stream}/${archive}` }),
      ConfigurationVersionErrored: (_, { stream }) => ({ removed: stream }),
      ConfigurationVersionArchived: (_, { stream }) => ({ removed: stream }),
      ConfigurationVersionPermanentlyDeleted: (_, { stream }) => ({ removed: stream }),
    },
    // `<id>`: all archives; `<id>/<number>`: those before this number.
    remove: (named) => {
      const [id = '', current] = named.split('/');
      return current === undefined ? files.remove(id) : files.removeBefore(id, Number(current));
    },
  });
};
