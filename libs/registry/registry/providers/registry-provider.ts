import { checkProviderName } from '#registry/provider-release/rules';
import {
  computeBindingChanges,
  runAllChecks,
  checkName,
  conflict,
  decidePurge,
  BINDING_POINTERS,
  checkBindingCount,
  requireActive,
  requireDeleted,
  toDeletedState,
  unprocessable,
  applyBindingChanges,
  type Decider,
  type Message,
  type PurgeCommandData,
  type RecoverableState,
  type Tag,
  type Timestamp,
} from '#platform/kernel';

/** Names of a provider, unique in its organization. */
export type ProviderNames = {
  readonly name: string;
  /**
   * Namespace in the public registry. Null if the provider is private; its namespace is then the name of its
   * organization.
   */
  readonly namespace: string | null;
};

/**
 * A provider in the registry of an organization. A private provider has versions here. A public provider is only a
 * record: the organization recommends the provider with this name in the public registry.
 *
 *   absent ──create──► active ──delete──► deleted ──recover──► active
 *                                         └──purge (with all versions)──► deleted for good
 */
export type RegistryProviderEvent =
  | Message<'RegistryProviderCreated', ProviderNames>
  /** All tags before and after, in order of insertion. */
  | Message<'RegistryProviderTagsChanged', ProviderNames & { from: readonly Tag[]; to: readonly Tag[] }>
  /** `recoverableUntil`: null if the deletion is final, and removes the versions. */
  | Message<'RegistryProviderDeleted', ProviderNames & { recoverableUntil: string | null }>
  | Message<'RegistryProviderRecovered', ProviderNames>
  | Message<'RegistryProviderPurged', ProviderNames & { expired: boolean }>;

type RegistryProviderCommand =
  | Message<'CreateRegistryProvider', ProviderNames>
  /** `bindings` replace all tags. */
  | Message<'TagRegistryProvider', { bindings: readonly Tag[] }>
  | Message<'DeleteRegistryProvider', { recoverableUntil: Timestamp | null }>
  /** `name`: default is the name before the deletion. */
  | Message<'RecoverRegistryProvider', { name: string | undefined }>
  | Message<'PurgeRegistryProvider', PurgeCommandData>;

type ActiveRegistryProvider = ProviderNames & { readonly status: 'active'; readonly tags: readonly Tag[] };
type RegistryProviderState = RecoverableState<ActiveRegistryProvider>;

const NOUN = 'registry provider';

/**
 * The public registry has names of GitHub organizations, such as `DataDog`. Clients of the vendor's API also use
 * underscores.
 */
const NAMESPACE_RULE = {
  attribute: 'namespace',
  pattern: /^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?$/,
  allowed: 'letters and numbers, and dashes and underscores between them',
  most: 64,
};

export const registryProvider: Decider<RegistryProviderState, RegistryProviderCommand, RegistryProviderEvent> = {
  version: 4,
  initial: { status: 'absent' },
  decide: {
    CreateRegistryProvider: ({ name, namespace }, state) => {
      if (state.status !== 'absent') throw conflict('Registry provider exists already');
      runAllChecks(
        () => checkProviderName(name),
        () => namespace !== null && checkName(namespace, NAMESPACE_RULE),
      );
      return [{ type: 'RegistryProviderCreated', data: { name, namespace } }];
    },
    TagRegistryProvider: ({ bindings }, state) => {
      const { name, namespace, tags: from } = requireActive(state);
      const changes = computeBindingChanges(from, bindings, 'replacing');
      const to = applyBindingChanges(from, changes);
      checkBindingCount(to.length, BINDING_POINTERS.bindings);
      if (changes.length === 0) return [];
      return [{ type: 'RegistryProviderTagsChanged', data: { name, namespace, from, to } }];
    },
    DeleteRegistryProvider: ({ recoverableUntil }, state) => {
      const { name, namespace } = requireActive(state);
      return [{ type: 'RegistryProviderDeleted', data: { name, namespace, recoverableUntil } }];
    },
    RecoverRegistryProvider: ({ name }, state) => {
      const { name: before, namespace } = requireDeleted(state, NOUN);
      if (name !== undefined && name !== before) {
        if (namespace !== null) throw unprocessable('Name of a public provider cannot be changed', 'name');
        checkProviderName(name);
      }
      return [{ type: 'RegistryProviderRecovered', data: { name: name ?? before, namespace } }];
    },
    PurgeRegistryProvider: (data, state) =>
      decidePurge(data, state, {
        noun: NOUN,
        purge: ({ name, namespace }): RegistryProviderEvent => ({
          type: 'RegistryProviderPurged',
          data: { name, namespace, ...data },
        }),
      }),
  },
  evolve: {
    RegistryProviderCreated: (names) => ({ status: 'active', ...names, tags: [] }),
    RegistryProviderTagsChanged: ({ to }, state) => (state.status === 'active' ? { ...state, tags: to } : state),
    RegistryProviderDeleted: toDeletedState,
    RegistryProviderRecovered: ({ name }, state) =>
      state.status === 'deleted' && state.last ? { ...state.last, name } : state,
    RegistryProviderPurged: () => ({ status: 'deleted', last: null }),
  },
};
