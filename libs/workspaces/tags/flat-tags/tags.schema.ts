import { count, defineResource, exampleText, relatedAlways, timestamp } from '#api/json-api/description';

export const tagSchema = defineResource({
  name: 'Tag',
  type: 'tags',
  description: 'A flat tag: a name without a value.',
  exampleId: 'tag-9f8e7d6c5b4a3f2e',
  attributes: {
    name: exampleText('network'),
    'created-at': timestamp('When the first workspace got the tag.'),
    'instance-count': count('The number of workspaces with the tag that you may read.'),
  },
  relationships: { organization: relatedAlways('organizations') },
});
