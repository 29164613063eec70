import { CommandHandler } from '@nestjs/cqrs';
import { Ids, notFound, type Sql } from '#platform/kernel';
import {
  AggregateHandler,
  EventStore,
  expectVersion,
  getFirstRow,
  newStream,
  type LoadedStream,
  type OperationTable,
  type StreamWrite,
} from '#storage/event-store';
import { refuseTakenName, type DatabaseRow } from '#platform/postgres';
import { createEventContext, type Actor } from '#api/access';
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
  type VersionForCommand,
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

type LoadedVersion = LoadedStream<RegistryProviderVersionState> & { readonly row: VersionForCommand };

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
      await this.append(path, actor, () => ({ type: 'DeleteVersion', data: {} }));
    },
    CreatePlatform: (input) => this.createPlatform(input),
    DeletePlatform: async ({ path, actor }) => {
      await this.append(path, actor, ({ state }) => ({
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
    const { rows } = await this.store
      .handle({
        decider: registryProviderVersion,
        load: async () => ({
          ...newStream(id, registryProviderVersion),
          parent: await loadProviderForNewVersion(this.store.database, actor, path),
        }),
        command: ({ parent: { provider, providerName: name, siblings } }) =>
          ({ type: 'CreateVersion', data: { provider, name, siblings, ...attributes } }) as const,
        organization: ({ parent }) => parent.organization,
        preconditions: ({ parent }) => buildPreconditions(parent),
        context: createEventContext(actor),
        read: () => [selectVersionById(id)],
      })
      .catch(refuseTakenName('registry_provider_versions_provider_precedence_key', 'version'));
    return getFirstRow<RegistryProviderVersionRow>(rows);
  }

  private async createPlatform(
    input: RegistryProviderVersionOperations['CreatePlatform']['input'],
  ): Promise<RegistryProviderPlatformRow> {
    const { path, attributes, actor } = input;
    const platform = this.ids.next('provpltfrm');
    const command = { type: 'CreatePlatform', data: { ...attributes, platform } } as const;
    const rows = await this.append(path, actor, () => command, [selectPlatformById(platform)]);
    return getFirstRow<RegistryProviderPlatformRow>(rows);
  }

  /**
   * Executes a command on the version at that path. Appends the events of a command, and resolves to the rows that the
   * query `read` returns in the same transaction.
   */
  private async append(
    path: VersionPath,
    actor: Actor,
    command: (loaded: LoadedVersion) => RegistryProviderVersionCommand,
    read: readonly Sql[] = [],
  ): Promise<readonly DatabaseRow[][]> {
    await requirePrivateProvider(this.store.database, actor, path);
    const { rows } = await this.store.handle({
      decider: registryProviderVersion,
      load: async (): Promise<LoadedVersion> => {
        const row = await loadVersionForCommand(this.store.database, actor, path);
        return { ...(await this.store.restore(row.id, registryProviderVersion, row.snapshot)), row };
      },
      command,
      organization: ({ row }) => row.organization,
      preconditions: ({ row }) => buildPreconditions(row),
      context: createEventContext(actor),
      read: () => read,
    });
    return rows;
  }
}
