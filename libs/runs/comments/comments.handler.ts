import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable } from '#kernel';
import { EventStore, getFirstRow, expectVersion } from '#event-store';
import { createEventContext, type Actor } from '#access';
import { selectCommentById, type CommentRow } from '../run-events/run-events.queries.js';
import { run } from '../runs/run.js';
import { authorizeRunCommand, createCommentCommand } from '../runs/runs.handler.js';
import { loadRunForCommand, type StoredComments } from '../runs/runs.queries.js';

export class CommentOnRun extends Command<CommentRow> {
  constructor(
    readonly id: string,
    readonly body: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

/** Clients read all comments of a run in one request. Comments of actions are few: each action ends a phase of the run. */
const MAX_COMMENTS = 500;
const MAX_COMMENT_BYTES = 1_024 * 1_024;

const checkCommentLimit = ({ count, bytes }: StoredComments, body: string): void => {
  if (count >= MAX_COMMENTS) throw unprocessable(`A run can have at most ${MAX_COMMENTS} comments`, 'body');
  if (bytes + Buffer.byteLength(body) > MAX_COMMENT_BYTES) {
    throw unprocessable(`The comments of a run can have at most ${MAX_COMMENT_BYTES} bytes together`, 'body');
  }
};

@CommandHandler(CommentOnRun)
export class CommentOnRunHandler implements ICommandHandler<CommentOnRun> {
  constructor(
    private readonly store: EventStore,
    private readonly ids: Ids,
  ) {}

  async execute({ id, body, actor }: CommentOnRun): Promise<CommentRow> {
    const comment = this.ids.next('wsc');
    const { rows } = await this.store.handle({
      decider: run,
      load: async () => {
        const found = await loadRunForCommand(this.store.database, actor, id);
        authorizeRunCommand(actor, 'CommentRun', found);
        // The append checks the run's version, so comments that arrive together are counted.
        checkCommentLimit(found.comments, body);
        return { ...(await this.store.restore(id, run, found.snapshot)), found };
      },
      command: () => createCommentCommand(comment, body, actor),
      organization: ({ found }) => found.organization,
      preconditions: ({ found }) => [
        expectVersion(found.organization, found.organizationVersion),
        expectVersion(found.workspace, found.workspaceSnapshot.version),
      ],
      context: createEventContext(actor),
      read: () => [selectCommentById(comment)],
    });
    return getFirstRow<CommentRow>(rows);
  }
}
