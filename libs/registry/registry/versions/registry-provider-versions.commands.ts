import type { Readable } from 'node:stream';
import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { Protocol } from '#registry/provider-release/rules';
import type { PlatformAttributes } from '../platforms/registry-provider-platform.js';
import type { PlatformPath, RegistryProviderPlatformRow } from '../platforms/registry-provider-platforms.queries.js';
import type { ProviderPath } from '../providers/registry-providers.queries.js';
import type { ReleaseFile } from '../release-files/release.links.js';
import type { ReleaseSender } from '../release-files/release.uploads.js';
import type { RegistryProviderVersionRow, VersionPath } from './registry-provider-versions.queries.js';

export type RegistryProviderVersionOperations = {
  CreateVersion: Operation<
    {
      path: ProviderPath;
      attributes: {
        readonly version: string;
        readonly keyId: string;
        readonly protocols: readonly Protocol[] | null;
      };
      actor: Actor;
    },
    RegistryProviderVersionRow
  >;
  /** Deletes a version with its platforms. */
  DeleteVersion: Operation<{ path: VersionPath; actor: Actor }, void>;
  CreatePlatform: Operation<
    { path: VersionPath; attributes: PlatformAttributes; actor: Actor },
    RegistryProviderPlatformRow
  >;
  DeletePlatform: Operation<{ path: PlatformPath; actor: Actor }, void>;
  /**
   * Receives a file for which a signed link was issued. `announced` is the declared length in bytes, or null if the
   * client declared none.
   */
  ReceiveReleaseFile: Operation<
    { file: ReleaseFile; sender: ReleaseSender; content: Readable; announced: number | null },
    void
  >;
};

export class ChangeRegistryProviderVersion<T extends keyof RegistryProviderVersionOperations> extends AggregateCommand<
  RegistryProviderVersionOperations,
  T
> {}
