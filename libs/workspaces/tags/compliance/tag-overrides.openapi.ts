import { z } from 'zod';
import {
  count,
  describeBody,
  describeController,
  describePage,
  exampleText,
  pageParameters,
} from '#api/json-api/description';
import { previewBody } from '../reserved-tag-keys/reserved-tag-keys.body.js';
import { RESERVED_TAG_KEYS } from '../reserved-tag-keys/reserved-tag-keys.openapi.js';
import { TagOverridesController } from './tag-overrides.controller.js';

const rule = z.strictObject({
  key: exampleText('env'),
  'disable-overrides': z.boolean(),
  'override-count': count('The number of workspaces that override the key.'),
  'refused-in': z
    .strictObject({ projects: count(), workspaces: count() })
    .meta({ description: 'The numbers of projects and workspaces in which bindings of the key are refused.' }),
});

const preview = z.strictObject({
  'reserved-tag-key': exampleText('rtk-4gNtLxRzPq7WcYdK').nullable().meta({
    description: 'The id of the reserved tag key that would change; null if it would be created.',
  }),
  before: rule.nullable(),
  after: rule,
});

export const tagOverridesOperations = describeController(TagOverridesController, RESERVED_TAG_KEYS, {
  preview: {
    operationId: 'previewReservedTagKey',
    summary: 'Preview a change of a reserved tag key',
    description:
      'Lists the workspaces that override the key, and counts what the change would refuse. The request changes nothing.',
    query: pageParameters(),
    body: describeBody(previewBody, {
      data: { type: 'reserved-tag-keys', attributes: { key: 'env', 'disable-overrides': true } },
    }),
    answer: describePage('TagOverride', { meta: { preview } }),
  },
});
