import { z } from 'zod';
import type { EventKinds } from '#kernel';
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
export const tagEvents: EventKinds<ReservedTagKeyEvent> = {
  ReservedTagKeyCreated: {
    schemaVersion: 1,
    topic: 'tags',
    schema: attributes,
    audit: { resource: 'reserved_tag_key', action: 'create', meta: describeReservedTagKey },
  },
  ReservedTagKeyUpdated: {
    schemaVersion: 1,
    topic: 'tags',
    schema: z.strictObject({ from: attributes, to: attributes }),
    audit: {
      resource: 'reserved_tag_key',
      action: 'update',
      meta: ({ from, to }) => ({ from: describeReservedTagKey(from), to: describeReservedTagKey(to) }),
    },
  },
  ReservedTagKeyDeleted: {
    schemaVersion: 1,
    topic: 'tags',
    schema: attributes,
    audit: { resource: 'reserved_tag_key', action: 'destroy', meta: describeReservedTagKey },
  },
};
