import { unprocessable, type Ids } from '#platform/kernel';
import { expectVersion, getFirstRow, type EventStore } from '#storage/event-store';
import { toActingPrincipal, type Actor, changeResource } from '#api/access';
import { selectCommentById, type CommentRow } from '../run-events/run-events.queries.js';
import { run, type RunCommand } from './run.js';
import type { RunOperations } from './runs.commands.js';
import { authorizeRunCommand } from './runs.permissions.js';
import { loadRunForCommand, type StoredComments } from './runs.queries.js';

/**
 * Clients read all comments of a run in one request. Comments of actions are few: each action ends a phase of the run.
 */
const MAX_COMMENTS = 500;
const MAX_COMMENT_BYTES = 1_024 * 1_024;

const checkCommentLimit = ({ count, bytes }: StoredComments, body: string): void => {
  if (count >= MAX_COMMENTS) throw unprocessable(`A run can have at most ${MAX_COMMENTS} comments`, 'body');
  if (bytes + Buffer.byteLength(body) > MAX_COMMENT_BYTES) {
    throw unprocessable(`The comments of a run can have at most ${MAX_COMMENT_BYTES} bytes together`, 'body');
  }
};

export const createCommentCommand = (id: string, body: string, actor: Actor): RunCommand => ({
  type: 'CommentRun',
  data: { id, body, author: toActingPrincipal(actor) },
});

/** Adds a comment to a run. Resolves to the comment. */
export const commentRun = async (
  { store, ids }: { readonly store: EventStore; readonly ids: Ids },
  { id, body, actor }: RunOperations['CommentRun']['input'],
): Promise<CommentRow> => {
  const comment = ids.next('wsc');
  const rows = await changeResource(store, run, {
    actor,
    load: async () => {
      const row = await loadRunForCommand(store.database, actor, id);
      authorizeRunCommand(actor, 'CommentRun', row);
      // The append checks the run's version, so comments that arrive together are counted.
      checkCommentLimit(row.comments, body);
      return row;
    },
    command: createCommentCommand(comment, body, actor),
    writes: (row) => [
      expectVersion(row.organization, row.organizationVersion),
      expectVersion(row.workspace, row.workspaceSnapshot.version),
    ],
    read: () => [selectCommentById(comment)],
  });
  return getFirstRow<CommentRow>(rows);
};
