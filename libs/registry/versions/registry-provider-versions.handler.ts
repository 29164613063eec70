import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, notFound } from '#kernel';
import { EventStore, getFirstRow, newStream, expectVersion, type LoadedStream, type StreamWrite } from '#event-store';
import { refuseTakenName, type DatabaseRow } from '#postgres';
import { createEventContext, type Actor } from '#access';
import type { Protocol } from '#provider-release/rules';
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
import { requirePrivateProvider, type ProviderPath } from '../providers/registry-providers.queries.js';

export class CreateRegistryProviderVersion extends Command<RegistryProviderVersionRow> {
  constructor(
    readonly path: ProviderPath,
    readonly asked: {
      readonly version: string;
      readonly keyId: string;
      readonly protocols: readonly Protocol[] | null;
    },
    readonly actor: Actor,
  ) {
    super();
  }
}

export class CreateRegistryProviderPlatform extends Command<RegistryProviderPlatformRow> {
  constructor(
    readonly path: VersionPath,
    readonly facts: PlatformAttributes,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Deletes a version with its platforms, or only one of its platforms. */
export class DeleteFromRegistry extends Command<void> {
  constructor(
    readonly path: VersionPath,
    readonly platform: Pick<PlatformAttributes, 'os' | 'arch'> | null,
    readonly actor: Actor,
  ) {
    super();
  }
}

/**
 * Prevents that the organization or the provider is deleted in the meantime, which would leave the new version or
 * platform behind.
 */
const buildPreconditions = (parents: ProviderForVersion): StreamWrite[] => [
  expectVersion(parents.organization, parents.organizationVersion),
  expectVersion(parents.provider, parents.providerVersion),
];

@CommandHandler(CreateRegistryProviderVersion)
export class CreateRegistryProviderVersionHandler implements ICommandHandler<CreateRegistryProviderVersion> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({ path, asked, actor }: CreateRegistryProviderVersion): Promise<RegistryProviderVersionRow> {
    await requirePrivateProvider(this.store.database, actor, path);
    const id = this.ids.next('provver');
    const { rows } = await this.store
      .handle({
        decider: registryProviderVersion,
        load: async () => ({
          ...newStream(id, registryProviderVersion),
          place: await loadProviderForNewVersion(this.store.database, actor, path),
        }),
        command: ({ place: { provider, providerName: name, siblings } }) =>
          ({ type: 'CreateVersion', data: { provider, name, siblings, ...asked } }) as const,
        organization: ({ place }) => place.organization,
        preconditions: ({ place }) => buildPreconditions(place),
        context: createEventContext(actor),
        read: () => [selectVersionById(id)],
      })
      .catch(refuseTakenName('registry_provider_versions_provider_precedence_key', 'version'));
    return getFirstRow<RegistryProviderVersionRow>(rows);
  }
}

type LoadedVersion = LoadedStream<RegistryProviderVersionState> & { readonly found: VersionForCommand };

/** Executes a command on the version at that path. Returns the row of the platform if `platform` is set. */
const executeVersionCommand = async (
  store: EventStore,
  { path, actor }: { readonly path: VersionPath; readonly actor: Actor },
  command: (loaded: LoadedVersion) => RegistryProviderVersionCommand,
  platform?: string,
): Promise<readonly DatabaseRow[][]> => {
  const { rows } = await store.handle({
    decider: registryProviderVersion,
    load: async (): Promise<LoadedVersion> => {
      const found = await loadVersionForCommand(store.database, actor, path);
      return { ...(await store.restore(found.id, registryProviderVersion, found.snapshot)), found };
    },
    command,
    organization: ({ found }) => found.organization,
    preconditions: ({ found }) => buildPreconditions(found),
    context: createEventContext(actor),
    read: () => (platform === undefined ? [] : [selectPlatformById(platform)]),
  });
  return rows;
};

@CommandHandler(CreateRegistryProviderPlatform)
export class CreateRegistryProviderPlatformHandler implements ICommandHandler<CreateRegistryProviderPlatform> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute(request: CreateRegistryProviderPlatform): Promise<RegistryProviderPlatformRow> {
    await requirePrivateProvider(this.store.database, request.actor, request.path);
    const platform = this.ids.next('provpltfrm');
    const command = { type: 'CreatePlatform', data: { ...request.facts, platform } } as const;
    return getFirstRow<RegistryProviderPlatformRow>(
      await executeVersionCommand(this.store, request, () => command, platform),
    );
  }
}

const findPlatform = (
  state: RegistryProviderVersionState,
  { os, arch }: Pick<PlatformAttributes, 'os' | 'arch'>,
): string => {
  const platforms = state.status === 'active' ? Object.entries(state.platforms) : [];
  const entry = platforms.find(([, platform]) => platform.os === os && platform.arch === arch);
  if (!entry) throw notFound();
  return entry[0];
};

@CommandHandler(DeleteFromRegistry)
export class DeleteFromRegistryHandler implements ICommandHandler<DeleteFromRegistry> {
  constructor(private readonly store: EventStore) {}

  async execute(request: DeleteFromRegistry): Promise<void> {
    const { platform } = request;
    await requirePrivateProvider(this.store.database, request.actor, request.path);
    await executeVersionCommand(this.store, request, ({ state }) =>
      platform === null
        ? { type: 'DeleteVersion', data: {} }
        : { type: 'DeletePlatform', data: { platform: findPlatform(state, platform) } },
    );
  }
}
