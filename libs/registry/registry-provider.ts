import { checkProviderName } from '#provider-release/rules';
import { conflict, notFound, type Decider, type Message } from '#kernel';

/**
 * A private provider of an organization. Its namespace is the organization's name.
 *
 *   absent ──create──► active ──delete (with all of its versions)──► deleted
 */
export type RegistryProviderEvent =
  Message<'RegistryProviderCreated', { name: string }> | Message<'RegistryProviderDeleted', { name: string }>;

export type RegistryProviderCommand =
  Message<'CreateRegistryProvider', { name: string }> | Message<'DeleteRegistryProvider', Record<never, never>>;

type Active = { readonly status: 'active'; readonly name: string };
export type RegistryProvider = { readonly status: 'absent' | 'deleted' } | Active;

const active = (state: RegistryProvider): Active => {
  if (state.status !== 'active') throw notFound();
  return state;
};

export const registryProvider: Decider<RegistryProvider, RegistryProviderCommand, RegistryProviderEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateRegistryProvider: ({ name }, state) => {
      if (state.status !== 'absent') throw conflict('Registry provider exists already');
      checkProviderName(name);
      return [{ type: 'RegistryProviderCreated', data: { name } }];
    },
    DeleteRegistryProvider: (_, state) => [{ type: 'RegistryProviderDeleted', data: { name: active(state).name } }],
  },
  evolve: {
    RegistryProviderCreated: ({ name }) => ({ status: 'active', name }),
    RegistryProviderDeleted: () => ({ status: 'deleted' }),
  },
};
