import { defineResource, exampleText, principal, relatedAlways, timestamp } from '#api/json-api/description';

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
  relationships: { workspace: relatedAlways('workspaces'), project: relatedAlways('projects') },
});
