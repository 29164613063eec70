import { z } from 'zod';
import { defineResource, exampleText, timestamp } from '#api/json-api/description';

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
