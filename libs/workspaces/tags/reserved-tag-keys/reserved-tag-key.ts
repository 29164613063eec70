import { z } from 'zod';
import {
  checkTagKey,
  conflict,
  createSubject,
  defineEvents,
  endSubject,
  hasNoChanges,
  pickChanged,
  requireActive,
  updateSubject,
  type DataOf,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { inOrganization } from '#api/access/rules';

export type ReservedTagKeyAttributes = {
  readonly key: string;
  /** Whether workspaces may not bind the key if their project binds it. */
  readonly disableOverrides: boolean;
};

const attributes = z.strictObject({
  key: z.string(),
  disableOverrides: z.boolean(),
}) satisfies z.ZodType<ReservedTagKeyAttributes>;

const describeReservedTagKey = ({ key, disableOverrides }: ReservedTagKeyAttributes) => ({
  key,
  disable_overrides: disableOverrides,
});

/**
 * A tag key that an organization reserves. A unique index of the view keeps keys unique in the organization.
 *
 *   absent ──create──► active ──delete──► deleted
 */
export const tagEvents = defineEvents(
  {
    topic: 'tags',
    stream: 'rtk',
    audited: 'reserved_tag_key',
    live: inOrganization('reserved-tag-keys', 'read-reserved-tag-keys'),
  },
  {
    ReservedTagKeyCreated: {
      schema: attributes,
      audit: { action: 'create', meta: describeReservedTagKey },
      live: 'created',
      history: (attributes, { stream }) => createSubject(stream, attributes),
    },
    ReservedTagKeyUpdated: {
      schema: z.strictObject({ from: attributes, to: attributes }),
      audit: {
        action: 'update',
        meta: ({ from, to }) => ({ from: describeReservedTagKey(from), to: describeReservedTagKey(to) }),
      },
      live: 'changed',
      history: ({ to }, { stream }) => updateSubject(stream, to),
    },
    ReservedTagKeyDeleted: {
      schema: attributes,
      audit: { action: 'destroy', meta: describeReservedTagKey },
      live: 'deleted',
      history: (_, { stream }) => endSubject(stream),
    },
  },
);

export type ReservedTagKeyEvent = EventsOf<typeof tagEvents>;

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
