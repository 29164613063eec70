import type { Tag } from '#platform/kernel';
import type { Actor } from '#api/access';
import { AggregateCommand, type Operation } from '#storage/event-store';
import type { ProviderPath, RegistryProviderRow } from './registry-providers.queries.js';

export type RegistryProviderOperations = {
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
};

export class ChangeRegistryProvider<T extends keyof RegistryProviderOperations> extends AggregateCommand<
  RegistryProviderOperations,
  T
> {}
