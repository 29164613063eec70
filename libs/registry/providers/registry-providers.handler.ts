import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable, type Tag } from '#kernel';
import { EventStore, getFirstRow, newStream, expectVersion, decideWrite, type StreamWrite } from '#event-store';
import { refuseTakenName } from '#postgres';
import { createEventContext, loadParentOrganization, type Actor, type ParentOrganization } from '#access';
import { registryProvider } from './registry-provider.js';
import { registryProviderVersion } from '../versions/registry-provider-version.js';
import {
  loadCuratingOrganization,
  selectRegistryProviderById,
  loadRegistryProviderForCommand,
  VERSIONS_PER_DELETION,
  type ProviderPath,
  type RegistryProviderRow,
} from './registry-providers.queries.js';

export class CreateRegistryProvider extends Command<RegistryProviderRow> {
  constructor(
    readonly organization: string,
    readonly asked: Pick<ProviderPath, 'registryName' | 'namespace' | 'name'>,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Replaces the tags of a provider. If `bindings` is undefined, the tags stay unchanged. */
export class TagRegistryProvider extends Command<RegistryProviderRow> {
  constructor(
    readonly path: ProviderPath,
    readonly bindings: readonly Tag[] | undefined,
    readonly actor: Actor,
  ) {
    super();
  }
}

export class DeleteRegistryProvider extends Command<void> {
  constructor(
    readonly path: ProviderPath,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(CreateRegistryProvider)
export class CreateRegistryProviderHandler implements ICommandHandler<CreateRegistryProvider> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({
    organization,
    asked: { registryName, namespace, name },
    actor,
  }: CreateRegistryProvider): Promise<RegistryProviderRow> {
    const id = this.ids.next('prov');
    const { rows } = await this.store
      .handle({
        decider: registryProvider,
        load: async () => {
          const place = await this.loadTarget(organization, { registryName, namespace }, actor);
          return { ...newStream(id, registryProvider), place };
        },
        command: () => {
          const data = { name, namespace: registryName === 'public' ? namespace : null };
          return { type: 'CreateRegistryProvider', data } as const;
        },
        organization: ({ place }) => place.organization,
        preconditions: ({ place }) => [expectVersion(place.organization, place.version)],
        context: createEventContext(actor),
        read: () => [selectRegistryProviderById(id)],
      })
      .catch(refuseTakenName('registry_providers_names_key'));
    return getFirstRow<RegistryProviderRow>(rows);
  }

  private async loadTarget(
    organization: string,
    { registryName, namespace }: Pick<ProviderPath, 'registryName' | 'namespace'>,
    actor: Actor,
  ): Promise<ParentOrganization> {
    const { database } = this.store;
    if (registryName === 'public') return loadCuratingOrganization(database, actor, organization);
    const parent = await loadParentOrganization(database, actor, 'manage-providers', organization);
    if (namespace === organization) return parent;
    throw unprocessable(`Namespace of a private provider must be the organization, ${organization}`, 'namespace');
  }
}

@CommandHandler(TagRegistryProvider)
export class TagRegistryProviderHandler implements ICommandHandler<TagRegistryProvider> {
  constructor(private readonly store: EventStore) {}

  async execute({ path, bindings, actor }: TagRegistryProvider): Promise<RegistryProviderRow> {
    const { rows } = await this.store.handle({
      decider: registryProvider,
      load: async () => {
        const found = await loadRegistryProviderForCommand(this.store.database, actor, path);
        return { ...(await this.store.restore(found.id, registryProvider, found.snapshot)), found };
      },
      command: ({ state }) => {
        const current = state.status === 'active' ? state.tags : [];
        return { type: 'TagRegistryProvider', data: { bindings: bindings ?? current } } as const;
      },
      organization: ({ found }) => found.organization,
      preconditions: ({ found }) => [expectVersion(found.organization, found.organizationVersion)],
      context: createEventContext(actor),
      read: ({ found }) => [selectRegistryProviderById(found.id)],
    });
    return getFirstRow<RegistryProviderRow>(rows);
  }
}

@CommandHandler(DeleteRegistryProvider)
export class DeleteRegistryProviderHandler implements ICommandHandler<DeleteRegistryProvider> {
  constructor(private readonly store: EventStore) {}

  /** Deletes the versions too: the first of them in the same append, the others in steps (deleted-providers.job.ts). */
  async execute({ path, actor }: DeleteRegistryProvider): Promise<void> {
    await this.store.untilFirst(async () => {
      const found = await loadRegistryProviderForCommand(this.store.database, actor, path, VERSIONS_PER_DELETION);
      const { organization, organizationVersion } = found;
      const provider = await this.store.restore(found.id, registryProvider, found.snapshot);
      const versions = found.versions.map(async ({ id, snapshot }): Promise<StreamWrite> => {
        const loaded = await this.store.restore(id, registryProviderVersion, snapshot);
        return decideWrite(registryProviderVersion, loaded, organization, { type: 'DeleteVersion', data: {} });
      });
      // Provider first: commands on a version lock the provider before the version. In another order, two such appends
      // would deadlock.
      const writes = [
        expectVersion(organization, organizationVersion),
        decideWrite(registryProvider, provider, organization, { type: 'DeleteRegistryProvider', data: {} }),
        ...(await Promise.all(versions)),
      ];
      await this.store.append(writes, createEventContext(actor));
    });
  }
}
