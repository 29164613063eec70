import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable, type Tag } from '#kernel';
import { EventStore, firstRow, refuseTakenName, unborn, unchanged, writeOf, type Write } from '#event-store';
import { contextOf, placeInOrganization, type Actor, type PlaceInOrganization } from '#access';
import { registryProvider } from './registry-provider.js';
import { registryProviderVersion } from './registry-provider-version.js';
import {
  placeForPublicProvider,
  registryProviderById,
  registryProviderForCommand,
  VERSIONS_AT_ONCE,
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

/** Replaces the tags of a provider; `bindings` undefined leaves them as they are. */
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
          const place = await this.placeFor(organization, { registryName, namespace }, actor);
          return { ...unborn(id, registryProvider), place };
        },
        command: () => {
          const data = { name, namespace: registryName === 'public' ? namespace : null };
          return { type: 'CreateRegistryProvider', data } as const;
        },
        organization: ({ place }) => place.organization,
        holding: ({ place }) => [unchanged(place.organization, place.version)],
        context: contextOf(actor),
        read: () => [registryProviderById(id)],
      })
      .catch(refuseTakenName('registry_providers_names_key'));
    return firstRow<RegistryProviderRow>(rows);
  }

  private async placeFor(
    organization: string,
    { registryName, namespace }: Pick<ProviderPath, 'registryName' | 'namespace'>,
    actor: Actor,
  ): Promise<PlaceInOrganization> {
    const { database } = this.store;
    if (registryName === 'public') return placeForPublicProvider(database, actor, organization);
    const place = await placeInOrganization(database, actor, 'manage-providers', organization);
    if (namespace === organization) return place;
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
        const found = await registryProviderForCommand(this.store.database, actor, path);
        return { ...(await this.store.restore(found.id, registryProvider, found.snapshot)), found };
      },
      command: ({ state }) => {
        const kept = state.status === 'active' ? state.tags : [];
        return { type: 'TagRegistryProvider', data: { bindings: bindings ?? kept } } as const;
      },
      organization: ({ found }) => found.organization,
      holding: ({ found }) => [unchanged(found.organization, found.organizationVersion)],
      context: contextOf(actor),
      read: ({ found }) => [registryProviderById(found.id)],
    });
    return firstRow<RegistryProviderRow>(rows);
  }
}

@CommandHandler(DeleteRegistryProvider)
export class DeleteRegistryProviderHandler implements ICommandHandler<DeleteRegistryProvider> {
  constructor(private readonly store: EventStore) {}

  /** Its versions go with it: the first of them in the same append, the others in steps (deleted-providers.chore.ts). */
  async execute({ path, actor }: DeleteRegistryProvider): Promise<void> {
    await this.store.untilFirst(async () => {
      const found = await registryProviderForCommand(this.store.database, actor, path, VERSIONS_AT_ONCE);
      const { organization, organizationVersion } = found;
      const provider = await this.store.restore(found.id, registryProvider, found.snapshot);
      const versions = found.versions.map(async ({ id, snapshot }): Promise<Write> => {
        const loaded = await this.store.restore(id, registryProviderVersion, snapshot);
        return writeOf(registryProviderVersion, loaded, organization, { type: 'DeleteVersion', data: {} });
      });
      // The provider first: who changes a version holds it before that, and two such appends would wait for one another.
      const writes = [
        unchanged(organization, organizationVersion),
        writeOf(registryProvider, provider, organization, { type: 'DeleteRegistryProvider', data: {} }),
        ...(await Promise.all(versions)),
      ];
      await this.store.append(writes, contextOf(actor));
    });
  }
}
