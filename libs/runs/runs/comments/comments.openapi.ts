import {
  defineResource,
  describeController,
  describeList,
  describeResourceBody,
  exampleText,
  related,
} from '#api/json-api/description';
import { commentBody } from '../runs/runs.body.js';
import { CommentsController } from './comments.controller.js';

export const commentSchema = defineResource({
  name: 'Comment',
  type: 'comments',
  description: 'A comment on a run.',
  exampleId: 'wsc-2pYr7DfHn5XkVw9C',
  attributes: { body: exampleText('The new subnet is expected.') },
  relationships: { 'run-event': related.always('run-events') },
  hasSelfLink: true,
});

const COMMENTS = { name: 'Comments', description: 'Comments on runs.', resource: commentSchema };

export const commentsOperations = describeController(CommentsController, COMMENTS, {
  create: {
    summary: 'Comment on a run',
    body: describeResourceBody(commentBody, { body: 'The new subnet is expected.' }),
    refusals: { unprocessable: 'The text is blank or too long, or the run has 500 comments or 1 MiB of them.' },
  },
  list: {
    description: 'The list has all comments, oldest first.',
    answer: describeList('Comment'),
  },
  show: {},
});
