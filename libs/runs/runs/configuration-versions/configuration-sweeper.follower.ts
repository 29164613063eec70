import { createFileSweeper, type BlobStore } from '#storage/blob-store';
import type { Follower } from '#storage/event-store';
import { ConfigurationFiles } from './configuration-version.files.js';
import type { WorkspaceDeleted } from '#platform/kernel';
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

/** Removes the archives of configuration versions that were deleted, archived or replaced. */
export const createConfigurationSweeper = (blobs: BlobStore): Follower => {
  // Deletion needs no encryption key.
  const files = new ConfigurationFiles(blobs);
  return createFileSweeper<ConfigurationFileEvent>({
    name: 'configuration_sweeper',
    table: 'runs.kept_archives',
    ownerEnds: { WorkspaceDeleted: () => true } satisfies Record<WorkspaceDeleted['type'], unknown>,
    on: {
      ConfigurationVersionCreated: ({ workspace }, { stream }) => ({ stored: stream, owner: workspace }),
      ConfigurationVersionReplaced: ({ archive }, { stream }) => ({ removed: `${stream}/${archive}` }),
      ConfigurationVersionErrored: (_, { stream }) => ({ removed: stream }),
      ConfigurationVersionArchived: (_, { stream }) => ({ removed: stream }),
      ConfigurationVersionPermanentlyDeleted: (_, { stream }) => ({ removed: stream }),
    },
    // `<id>`: all archives; `<id>/<number>`: those with lower numbers.
    remove: (fileRange) => {
      const [id = '', current] = fileRange.split('/');
      return current === undefined ? files.remove(id) : files.removeBefore(id, Number(current));
    },
  });
};
