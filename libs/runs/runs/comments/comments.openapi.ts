import { describeBody, describeController, describeDocument, describeList } from '#api/json-api/description';
import { commentBody } from '../runs/runs.body.js';
import { CommentsController } from './comments.controller.js';

const COMMENTS = { name: 'Comments', description: 'Comments on runs.' };

export const commentsOperations = describeController(CommentsController, COMMENTS, {
  create: {
    operationId: 'createComment',
    summary: 'Comment on a run',
    body: describeBody(commentBody, {
      data: { type: 'comments', attributes: { body: 'The new subnet is expected.' } },
    }),
    answer: describeDocument('Comment'),
    refusals: { unprocessable: 'The text is blank or too long, or the run has 500 comments or 1 MiB of them.' },
  },
  list: {
    operationId: 'listComments',
    summary: 'List the comments of a run',
    description: 'The list has all comments, oldest first.',
    answer: describeList('Comment'),
  },
  show: { operationId: 'getComment', summary: 'Show a comment', answer: describeDocument('Comment') },
});
