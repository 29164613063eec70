import { CommandHandler } from '@nestjs/cqrs';
import { Ids, notFound, type Sql } from '#platform/kernel';
import {
  AggregateHandler,
  EventStore,
  expectVersion,
  getFirstRow,
  type OperationTable,
  type StreamWrite,
} from '#storage/event-store';
import { refuseTakenName, type DatabaseRow } from '#platform/postgres';
import { type Actor, createResource, changeResource } from '#api/access';
import type { PlatformAttributes } from '../platforms/registry-provider-platform.js';
import {
  registryProviderVersion,
  type RegistryProviderVersionState,
  type RegistryProviderVersionCommand,
} from './registry-provider-version.js';
import {
  loadProviderForNewVersion,
  selectVersionById,
  loadVersionForCommand,
  type ProviderForVersion,
  type RegistryProviderVersionRow,
  type VersionPath,
} from './registry-provider-versions.queries.js';
import {
  selectPlatformById,
  type RegistryProviderPlatformRow,
} from '../platforms/registry-provider-platforms.queries.js';
import { requirePrivateProvider } from '../providers/registry-providers.queries.js';
import { ReleaseFileReceiver } from '../release-files/release-file.receiver.js';
import {
  ChangeRegistryProviderVersion,
  type RegistryProviderVersionOperations,
} from './registry-provider-versions.commands.js';

/**
 * Prevents that the organization or the provider is deleted in the meantime, which would leave the new version or
 * platform behind.
 */
const buildPreconditions = (parents: ProviderForVersion): StreamWrite[] => [
  expectVersion(parents.organization, parents.organizationVersion),
  expectVersion(parents.provider, parents.providerVersion),
];

const findPlatform = (
  state: RegistryProviderVersionState,
  { os, arch }: Pick<PlatformAttributes, 'os' | 'arch'>,
): string => {
  const platforms = state.status === 'active' ? Object.entries(state.platforms) : [];
  const entry = platforms.find(([, platform]) => platform.os === os && platform.arch === arch);
  if (!entry) throw notFound();
  return entry[0];
};

@CommandHandler(ChangeRegistryProviderVersion)
export class RegistryProviderVersionsHandler extends AggregateHandler<RegistryProviderVersionOperations> {
  protected readonly operations: OperationTable<RegistryProviderVersionOperations> = {
    CreateVersion: (input) => this.create(input),
    DeleteVersion: async ({ path, actor }) => {
      await this.change(path, actor, () => ({ type: 'DeleteVersion', data: {} }));
    },
    CreatePlatform: (input) => this.createPlatform(input),
    DeletePlatform: async ({ path, actor }) => {
      await this.change(path, actor, (state) => ({
        type: 'DeletePlatform',
        data: { platform: findPlatform(state, path) },
      }));
    },
    ReceiveReleaseFile: (input) => this.receiver.receive(input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly receiver: ReleaseFileReceiver,
  ) {
    super();
  }

  private async create(
    input: RegistryProviderVersionOperations['CreateVersion']['input'],
  ): Promise<RegistryProviderVersionRow> {
    const { path, attributes, actor } = input;
    await requirePrivateProvider(this.store.database, actor, path);
    const id = this.ids.next('provver');
    const rows = await createResource(this.store, registryProviderVersion, {
      id,
      actor,
      load: () => loadProviderForNewVersion(this.store.database, actor, path),
      command: ({ provider, providerName: name, siblings }) => ({
        type: 'CreateVersion',
        data: { provider, name, siblings, ...attributes },
      }),
      writes: buildPreconditions,
      read: () => [selectVersionById(id)],
    }).catch(refuseTakenName('registry_provider_versions_provider_precedence_key', 'version'));
    return getFirstRow<RegistryProviderVersionRow>(rows);
  }

  private async createPlatform(
    input: RegistryProviderVersionOperations['CreatePlatform']['input'],
  ): Promise<RegistryProviderPlatformRow> {
    const { path, attributes, actor } = input;
    const platform = this.ids.next('provpltfrm');
    const command = { type: 'CreatePlatform', data: { ...attributes, platform } } as const;
    const rows = await this.change(path, actor, () => command, [selectPlatformById(platform)]);
    return getFirstRow<RegistryProviderPlatformRow>(rows);
  }

  /**
   * Executes a command on the version at that path. Appends the events of a command, and resolves to the rows that the
   * query `read` returns in the same transaction.
   */
  private async change(
    path: VersionPath,
    actor: Actor,
    toCommand: (state: RegistryProviderVersionState) => RegistryProviderVersionCommand,
    read: readonly Sql[] = [],
  ): Promise<readonly DatabaseRow[][]> {
    await requirePrivateProvider(this.store.database, actor, path);
    return changeResource(this.store, registryProviderVersion, {
      actor,
      load: () => loadVersionForCommand(this.store.database, actor, path),
      command: (_, state) => toCommand(state),
      writes: buildPreconditions,
      read: () => read,
    });
  }
}
