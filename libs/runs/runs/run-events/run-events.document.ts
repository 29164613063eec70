import { toOne, type Resource } from '#api/json-api';
import type { CommentRow, RunEventRow } from './run-events.queries.js';

export const renderRunEvent = (row: RunEventRow): Resource => {
  const self = `/api/v2/run-events/${row.id}`;
  return {
    id: row.id,
    type: 'run-events',
    attributes: { action: row.action, 'created-at': row.createdAt, description: row.description },
    relationships: {
      actor: toOne('users', row.actor.id, `/api/v2/users/${row.actor.id}`),
      comment: toOne('comments', row.comment, `/api/v2/comments/${row.comment ?? ''}`),
      run: toOne('runs', row.run, `/api/v2/runs/${row.run}`),
    },
    links: { self },
  };
};

export const renderComment = ({ id, body, runEvent }: CommentRow): Resource => ({
  id,
  type: 'comments',
  attributes: { body },
  relationships: { 'run-event': toOne('run-events', runEvent, `/api/v2/run-events/${runEvent}`) },
  links: { self: `/api/v2/comments/${id}` },
});
