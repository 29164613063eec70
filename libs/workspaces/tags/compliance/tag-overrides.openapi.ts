import { z } from 'zod';
import {
  count,
  defineResource,
  describeController,
  describePage,
  describeResourceBody,
  exampleText,
  pageParameters,
  principal,
  related,
  timestamp,
} from '#api/json-api/description';
import { previewBody } from '../reserved-tag-keys/reserved-tag-keys.controller.js';
import { RESERVED_TAG_KEYS } from '../reserved-tag-keys/reserved-tag-keys.openapi.js';
import { TagOverridesController } from './tag-overrides.controller.js';

export const tagOverrideSchema = defineResource({
  name: 'TagOverride',
  type: 'tag-overrides',
  description: 'A workspace that overrides the value of its project for a tag key. It has the id of its tag binding.',
  exampleId: 'tb-0a1b2c3d4e5f6a7b',
  attributes: {
    'workspace-name': exampleText('network'),
    'project-name': exampleText('Default Project'),
    key: exampleText('env'),
    value: exampleText('prod', 'An empty text for a flat tag.'),
    'project-value': exampleText('test'),
    'set-at': timestamp(),
    'set-by': principal.nullable().meta({ description: 'Null if the account was forgotten.' }),
  },
  relationships: { workspace: related.always('workspaces'), project: related.always('projects') },
});

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

export const tagOverridesOperations = describeController(
  TagOverridesController,
  { ...RESERVED_TAG_KEYS, resource: tagOverrideSchema },
  {
    preview: {
      operationId: 'previewReservedTagKey',
      summary: 'Preview a change of a reserved tag key',
      description:
        'Lists the workspaces that override the key, and counts what the change would refuse. The request changes nothing.',
      query: pageParameters(),
      body: describeResourceBody(previewBody, { key: 'env', 'disable-overrides': true }),
      answer: describePage('TagOverride', { meta: { preview } }),
    },
  },
);
