import { z } from 'zod';
import { defineEvents, type EventKinds, createSubject, endSubject, updateSubject } from '#kernel';
import { inOrganization } from '#access/rules';
import type { ReservedTagKeyEvent, ReservedTagKeyAttributes } from './reserved-tag-keys/reserved-tag-key.js';

const attributes = z.strictObject({
  key: z.string(),
  disableOverrides: z.boolean(),
}) satisfies z.ZodType<ReservedTagKeyAttributes>;

const describeReservedTagKey = ({ key, disableOverrides }: ReservedTagKeyAttributes) => ({
  key,
  disable_overrides: disableOverrides,
});

/**
 * Schemas, topics and audit entries of reserved tag keys, which the contract's catalogue (§6) does not name. The events
 * of tags belong to workspaces and projects.
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
) satisfies EventKinds<ReservedTagKeyEvent>;
