import { createFileSweeper, type BlobStore } from '#storage/blob-store';
import type { Follower } from '#storage/event-store';
import type { RegistryProviderVersionEvent } from '../versions/registry-provider-version.js';
import { ReleaseFiles } from './release.files.js';

type ReleaseFileEvent = Extract<
  RegistryProviderVersionEvent,
  {
    type:
      | 'RegistryProviderShasumsUploaded'
      | 'RegistryProviderSignatureUploaded'
      | 'RegistryProviderBinaryUploaded'
      | 'RegistryProviderPlatformDeleted';
  }
>;

/** Removes the files of deleted versions and platforms. */
export const createReleaseSweeper = (blobs: BlobStore): Follower => {
  const files = new ReleaseFiles(blobs);
  return createFileSweeper<ReleaseFileEvent>({
    name: 'release_sweeper',
    table: 'registry.kept_files',
    ownerEnds: { RegistryProviderVersionDeleted: () => true } satisfies Partial<
      Record<RegistryProviderVersionEvent['type'], unknown>
    >,
    on: {
      RegistryProviderShasumsUploaded: ({ sha256 }, { stream }) => ({ stored: `${stream}/${sha256}`, owner: stream }),
      RegistryProviderSignatureUploaded: ({ sha256 }, { stream }) => ({ stored: `${stream}/${sha256}`, owner: stream }),
      RegistryProviderBinaryUploaded: ({ platform }, { stream }) => ({ stored: platform, owner: stream }),
      RegistryProviderPlatformDeleted: ({ platform }) => ({ removed: platform }),
    },
    remove: (id) => files.remove(id),
  });
};
