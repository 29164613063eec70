import { defineResource, exampleText, relatedAlways, serverPath } from '#api/json-api/description';

export const commentSchema = defineResource({
  name: 'Comment',
  type: 'comments',
  description: 'A comment on a run.',
  exampleId: 'wsc-2pYr7DfHn5XkVw9C',
  attributes: { body: exampleText('The new subnet is expected.') },
  relationships: { 'run-event': relatedAlways('run-events') },
  links: { self: serverPath('/api/v2/comments/wsc-2pYr7DfHn5XkVw9C') },
});
