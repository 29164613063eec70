import {
  describeBody,
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  pageParameters,
} from '#api/json-api/description';
import { createBody, updateBody } from './reserved-tag-keys.body.js';
import { ReservedTagKeysController } from './reserved-tag-keys.controller.js';

export const RESERVED_TAG_KEYS = {
  name: 'Reserved tag keys',
  description: 'Tag keys with a rule: whether workspaces may override the value that their project binds.',
};

const KEY_CONFLICT = 'The organization has a reserved tag key with this key.';

export const reservedTagKeysOperations = describeController(ReservedTagKeysController, RESERVED_TAG_KEYS, {
  list: {
    operationId: 'listReservedTagKeys',
    summary: 'List the reserved tag keys of an organization',
    query: pageParameters(),
    answer: describePage('ReservedTagKey'),
  },
  create: {
    operationId: 'createReservedTagKey',
    summary: 'Reserve a tag key',
    body: describeBody(createBody, {
      data: { type: 'reserved-tag-keys', attributes: { key: 'cost-center', 'disable-overrides': true } },
    }),
    answer: describeDocument('ReservedTagKey'),
    refusals: { unprocessable: KEY_CONFLICT },
  },
  update: {
    operationId: ['updateReservedTag', 'updateReservedTagKey'],
    summary: 'Change a reserved tag key',
    body: describeBody(updateBody, { data: { type: 'reserved-tag-keys', attributes: { 'disable-overrides': false } } }),
    answer: describeDocument('ReservedTagKey'),
  },
  destroy: {
    operationId: ['deleteReservedTag', 'deleteReservedTagKey'],
    summary: 'Delete a reserved tag key',
    answer: describeEmpty(),
  },
});
