import { z } from 'zod';
import { defineResource, exampleText, principal, serverPath, timestamp } from '#api/json-api/description';

const attributes = {
  key: exampleText('env'),
  value: exampleText('prod', 'An empty text for a flat tag.'),
  'set-at': timestamp(),
  'set-by': principal.nullable().meta({ description: 'Null if the account was forgotten.' }),
  'forbidden-by': exampleText('rtk-4gNtLxRzPq7WcYdK')
    .nullable()
    .meta({
      description: 'The id of the reserved tag key that forbids to override the value of the project.',
      examples: [null],
    }),
};

export const tagBindingSchema = defineResource({
  name: 'TagBinding',
  type: 'tag-bindings',
  description: 'A key-value tag that a workspace or a project binds itself.',
  exampleId: 'tb-0a1b2c3d4e5f6a7b',
  attributes,
});

export const effectiveTagBindingSchema = defineResource({
  name: 'EffectiveTagBinding',
  type: 'effective-tag-bindings',
  description: 'A key-value tag that applies to a workspace or a project: its own, or inherited from the project.',
  exampleId: 'tb-0a1b2c3d4e5f6a7b',
  attributes,
  links: z.strictObject({ 'inherited-from': serverPath('/api/v2/projects/prj-6wR2mJ8tQfKx9LpZ') }).optional(),
});
