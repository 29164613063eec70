import {
  checkTagKey,
  conflict,
  differences,
  isNothing,
  requireActive,
  type DataOf,
  type Decider,
  type Message,
} from '#kernel';

export type ReservedTagKeyFacts = {
  readonly key: string;
  /** Whether workspaces may not bind the key where their project binds it. */
  readonly disableOverrides: boolean;
};

/**
 * A tag key that an organization reserves (contract §2.2). Keys are unique within it: the index of the view sees to that.
 *
 *   absent ──create──► active ──delete──► deleted
 */
export type ReservedTagKeyEvent =
  | Message<'ReservedTagKeyCreated', ReservedTagKeyFacts>
  /** All of it as it was and as it is: who reads that overrides were disabled needs to know of which key. */
  | Message<'ReservedTagKeyUpdated', { from: ReservedTagKeyFacts; to: ReservedTagKeyFacts }>
  | Message<'ReservedTagKeyDeleted', ReservedTagKeyFacts>;

export type ReservedTagKeyCommand =
  | Message<'CreateReservedTagKey', ReservedTagKeyFacts>
  | Message<'UpdateReservedTagKey', { changes: Partial<ReservedTagKeyFacts> }>
  | Message<'DeleteReservedTagKey', Record<never, never>>;

type Active = ReservedTagKeyFacts & { readonly status: 'active' };
export type ReservedTagKey = { readonly status: 'absent' | 'deleted' } | Active;

const factsOf = (state: ReservedTagKey): ReservedTagKeyFacts => {
  const { key, disableOverrides } = requireActive(state);
  return { key, disableOverrides };
};

export const checkReservedKey = (key: string): void => checkTagKey(key, '/data/attributes/key');

const decideUpdate = (
  { changes }: DataOf<ReservedTagKeyCommand, 'UpdateReservedTagKey'>,
  state: ReservedTagKey,
): readonly ReservedTagKeyEvent[] => {
  const from = factsOf(state);
  const changed = differences(from, changes);
  if (changed.key !== undefined) checkReservedKey(changed.key);
  return isNothing(changed) ? [] : [{ type: 'ReservedTagKeyUpdated', data: { from, to: { ...from, ...changed } } }];
};

export const reservedTagKey: Decider<ReservedTagKey, ReservedTagKeyCommand, ReservedTagKeyEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateReservedTagKey: (facts, state) => {
      if (state.status !== 'absent') throw conflict('Reserved tag key exists already');
      checkReservedKey(facts.key);
      return [{ type: 'ReservedTagKeyCreated', data: facts }];
    },
    UpdateReservedTagKey: decideUpdate,
    DeleteReservedTagKey: (_, state) => [{ type: 'ReservedTagKeyDeleted', data: factsOf(state) }],
  },
  evolve: {
    ReservedTagKeyCreated: (facts) => ({ status: 'active', ...facts }),
    ReservedTagKeyUpdated: ({ to }) => ({ status: 'active', ...to }),
    ReservedTagKeyDeleted: () => ({ status: 'deleted' }),
  },
};
