import { createFileSweeper, type BlobStore } from '#storage/blob-store';
import type { Follower } from '#storage/event-store';
import { ModuleFiles } from './module.files.js';
import type { RegistryModuleEvent } from './registry-module.js';

type ModuleFileEvent = Extract<
  RegistryModuleEvent,
  { type: 'RegistryModuleVersionCreated' } | { type: 'RegistryModuleVersionDeleted' }
>;

/** Removes the archives of deleted versions and modules. */
export const createModuleSweeper = (blobs: BlobStore): Follower => {
  // Deletion needs no encryption key.
  const files = new ModuleFiles(blobs);
  return createFileSweeper<ModuleFileEvent>({
    name: 'module_sweeper',
    table: 'modules.kept_archives',
    ownerEnds: { RegistryModuleDeleted: () => true } satisfies Partial<Record<RegistryModuleEvent['type'], unknown>>,
    on: {
      RegistryModuleVersionCreated: ({ versionId }, { stream }) => ({ stored: versionId, owner: stream }),
      RegistryModuleVersionDeleted: ({ versionId }) => ({ removed: versionId }),
    },
    remove: (versionId) => files.removeAll(versionId),
  });
};
