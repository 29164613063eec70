import {
  checkTagKey,
  conflict,
  pickChanged,
  hasNoChanges,
  requireActive,
  type DataOf,
  type Decider,
  type Message,
} from '#kernel';

export type ReservedTagKeyAttributes = {
  readonly key: string;
  /** Whether workspaces may not bind the key if their project binds it. */
  readonly disableOverrides: boolean;
};

/**
 * A tag key that an organization reserves. A unique index of the view keeps keys unique in the
 * organization.
 *
 * absent ──create──► active ──delete──► deleted
 */
export type ReservedTagKeyEvent =
  | Message<'ReservedTagKeyCreated', ReservedTagKeyAttributes>
  /** All attributes before and after, because the entry of a change of `disableOverrides` must also show the key. */
  | Message<'ReservedTagKeyUpdated', { from: ReservedTagKeyAttributes; to: ReservedTagKeyAttributes }>
  | Message<'ReservedTagKeyDeleted', ReservedTagKeyAttributes>;

export type ReservedTagKeyCommand =
  | Message<'CreateReservedTagKey', ReservedTagKeyAttributes>
  | Message<'UpdateReservedTagKey', { changes: Partial<ReservedTagKeyAttributes> }>
  | Message<'DeleteReservedTagKey', Record<never, never>>;

type ActiveReservedTagKey = ReservedTagKeyAttributes & { readonly status: 'active' };
export type ReservedTagKeyState = { readonly status: 'absent' | 'deleted' } | ActiveReservedTagKey;

const toAttributes = (state: ReservedTagKeyState): ReservedTagKeyAttributes => {
  const { key, disableOverrides } = requireActive(state);
  return { key, disableOverrides };
};

export const checkReservedKey = (key: string): void => checkTagKey(key, '/data/attributes/key');

const decideUpdate = (
  { changes }: DataOf<ReservedTagKeyCommand, 'UpdateReservedTagKey'>,
  state: ReservedTagKeyState,
): readonly ReservedTagKeyEvent[] => {
  const from = toAttributes(state);
  const changed = pickChanged(from, changes);
  if (changed.key !== undefined) checkReservedKey(changed.key);
  return hasNoChanges(changed) ? [] : [{ type: 'ReservedTagKeyUpdated', data: { from, to: { ...from, ...changed } } }];
};

export const reservedTagKey: Decider<ReservedTagKeyState, ReservedTagKeyCommand, ReservedTagKeyEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateReservedTagKey: (attributes, state) => {
      if (state.status !== 'absent') throw conflict('Reserved tag key exists already');
      checkReservedKey(attributes.key);
      return [{ type: 'ReservedTagKeyCreated', data: attributes }];
    },
    UpdateReservedTagKey: decideUpdate,
    DeleteReservedTagKey: (_, state) => [{ type: 'ReservedTagKeyDeleted', data: toAttributes(state) }],
  },
  evolve: {
    ReservedTagKeyCreated: (attributes) => ({ status: 'active', ...attributes }),
    ReservedTagKeyUpdated: ({ to }) => ({ status: 'active', ...to }),
    ReservedTagKeyDeleted: () => ({ status: 'deleted' }),
  },
};
