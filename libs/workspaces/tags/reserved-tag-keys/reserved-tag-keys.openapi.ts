import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeResourceBody,
  exampleText,
  timestamp,
} from '#api/json-api/description';
import { createBody, updateBody, ReservedTagKeysController } from './reserved-tag-keys.controller.js';

export const reservedTagKeySchema = defineResource({
  name: 'ReservedTagKey',
  type: 'reserved-tag-keys',
  description: 'A tag key with a rule for the whole organization.',
  exampleId: 'rtk-4gNtLxRzPq7WcYdK',
  attributes: {
    key: exampleText('cost-center'),
    'disable-overrides': z
      .boolean()
      .meta({ description: 'Whether workspaces must not override the value of their project.' }),
    'created-at': timestamp(),
    'updated-at': timestamp(),
    created_at: timestamp('The same as `created-at`, for clients that read this name.'),
    updated_at: timestamp('The same as `updated-at`, for clients that read this name.'),
  },
});

export const RESERVED_TAG_KEYS = {
  name: 'Reserved tag keys',
  description: 'Tag keys with a rule: whether workspaces may override the value that their project binds.',
};

const KEY_CONFLICT = 'The organization has a reserved tag key with this key.';

export const reservedTagKeysOperations = describeController(
  ReservedTagKeysController,
  { ...RESERVED_TAG_KEYS, resource: reservedTagKeySchema },
  {
    list: {},
    create: {
      summary: 'Reserve a tag key',
      body: describeResourceBody(createBody, { key: 'cost-center', 'disable-overrides': true }),
      refusals: { unprocessable: KEY_CONFLICT },
    },
    update: {
      operationId: ['updateReservedTag', 'updateReservedTagKey'],
      body: describeResourceBody(updateBody, { 'disable-overrides': false }),
    },
    destroy: { operationId: ['deleteReservedTag', 'deleteReservedTagKey'] },
  },
);
