import { CommandHandler } from '@nestjs/cqrs';
import { type Tag, hasSameName, Ids, unprocessable } from '#platform/kernel';
import { refuseTakenName } from '#platform/postgres';
import {
  type Actor,
  createEventContext,
  loadParentOrganization,
  type ParentOrganization,
  createResource,
  changeResource,
  RecoveryPeriod,
  type RecoveredResource,
} from '#api/access';
import {
  AggregateCommand,
  type Operation,
  AggregateHandler,
  EventStore,
  decideWrite,
  expectVersion,
  getFirstRow,
  type OperationTable,
  type StreamWrite,
} from '#storage/event-store';
import { registryProviderVersion } from '../versions/registry-provider-version.js';
import {
  type ProviderPath,
  type RegistryProviderRow,
  loadCuratingOrganization,
  selectRegistryProviderById,
  loadRegistryProviderForCommand,
  VERSIONS_PER_DELETION,
} from './registry-providers.queries.js';
import { purgeRegistryProvider, recoverRegistryProvider } from './recover-registry-provider.operation.js';
import { registryProvider } from './registry-provider.js';

type RegistryProviderOperations = {
  CreateRegistryProvider: Operation<
    {
      organization: string;
      names: Pick<ProviderPath, 'registryName' | 'namespace' | 'name'>;
      actor: Actor;
    },
    RegistryProviderRow
  >;
  /** Replaces the tags of a provider. If `bindings` is undefined, the tags stay unchanged. */
  TagRegistryProvider: Operation<
    { path: ProviderPath; bindings: readonly Tag[] | undefined; actor: Actor },
    RegistryProviderRow
  >;
  DeleteRegistryProvider: Operation<{ path: ProviderPath; actor: Actor }, void>;
  /** Brings a deleted provider back, under another name if there is one in the request. */
  RecoverRegistryProvider: Operation<{ id: string; name: string | undefined; actor: Actor }, RecoveredResource>;
  PurgeRegistryProvider: Operation<{ id: string; actor: Actor }, void>;
};

export class ChangeRegistryProvider<T extends keyof RegistryProviderOperations> extends AggregateCommand<
  RegistryProviderOperations,
  T
> {}

@CommandHandler(ChangeRegistryProvider)
export class RegistryProvidersHandler extends AggregateHandler<RegistryProviderOperations> {
  protected readonly operations: OperationTable<RegistryProviderOperations> = {
    CreateRegistryProvider: (input) => this.create(input),
    TagRegistryProvider: (input) => this.tag(input),
    DeleteRegistryProvider: (input) => this.delete(input),
    RecoverRegistryProvider: (input) => recoverRegistryProvider(this.store, input),
    PurgeRegistryProvider: (input) => purgeRegistryProvider(this.store, input),
  };

  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
    private readonly recoveryPeriod: RecoveryPeriod,
  ) {
    super();
  }

  private async create(
    input: RegistryProviderOperations['CreateRegistryProvider']['input'],
  ): Promise<RegistryProviderRow> {
    const {
      organization,
      names: { registryName, namespace, name },
      actor,
    } = input;
    const id = this.ids.next('prov');
    const rows = await createResource(this.store, registryProvider, {
      id,
      actor,
      load: () => this.loadParent(organization, { registryName, namespace }, actor),
      command: {
        type: 'CreateRegistryProvider',
        data: { name, namespace: registryName === 'public' ? namespace : null },
      },
      read: () => [selectRegistryProviderById(id)],
    }).catch(refuseTakenName('registry_providers_names_key'));
    return getFirstRow<RegistryProviderRow>(rows);
  }

  private async loadParent(
    organization: string,
    { registryName, namespace }: Pick<ProviderPath, 'registryName' | 'namespace'>,
    actor: Actor,
  ): Promise<ParentOrganization> {
    const { database } = this.store;
    if (registryName === 'public') return loadCuratingOrganization(database, actor, organization);
    const parent = await loadParentOrganization(database, actor, 'manage-providers', organization);
    if (hasSameName(namespace, organization)) return parent;
    throw unprocessable(`Namespace of a private provider must be the organization, ${organization}`, 'namespace');
  }

  private async tag(input: RegistryProviderOperations['TagRegistryProvider']['input']): Promise<RegistryProviderRow> {
    const { path, bindings, actor } = input;
    const rows = await changeResource(this.store, registryProvider, {
      actor,
      load: () => loadRegistryProviderForCommand(this.store.database, actor, path),
      command: (_, state) => {
        const current = state.status === 'active' ? state.tags : [];
        return { type: 'TagRegistryProvider', data: { bindings: bindings ?? current } };
      },
      writes: ({ organization, organizationVersion }) => [expectVersion(organization, organizationVersion)],
      read: ({ id }) => [selectRegistryProviderById(id)],
    });
    return getFirstRow<RegistryProviderRow>(rows);
  }

  /** A final deletion deletes versions too: the first of them in the same append, the others in steps (deleted-providers.job.ts). */
  private async delete({ path, actor }: RegistryProviderOperations['DeleteRegistryProvider']['input']): Promise<void> {
    const recoverableUntil = this.recoveryPeriod.computeEnd();
    const deletedVersions = recoverableUntil === null ? VERSIONS_PER_DELETION : 0;
    await this.store.retryOnConflict(async () => {
      const row = await loadRegistryProviderForCommand(this.store.database, actor, path, deletedVersions);
      const { organization, organizationVersion } = row;
      const provider = await this.store.restore(row.id, registryProvider, row.snapshot);
      const versions = row.versions.map(async ({ id, snapshot }): Promise<StreamWrite> => {
        const loaded = await this.store.restore(id, registryProviderVersion, snapshot);
        return decideWrite(registryProviderVersion, loaded, organization, { type: 'DeleteVersion', data: {} });
      });
      // Provider first: commands on a version lock the provider before the version. In another order, two such appends
      // would deadlock.
      const writes = [
        expectVersion(organization, organizationVersion),
        decideWrite(registryProvider, provider, organization, {
          type: 'DeleteRegistryProvider',
          data: { recoverableUntil },
        }),
        ...(await Promise.all(versions)),
      ];
      await this.store.append(writes, createEventContext(actor));
    });
  }
}
