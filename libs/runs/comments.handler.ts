import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Ids, unprocessable } from '#kernel';
import { EventStore, firstRow, unchanged } from '#event-store';
import { contextOf, type Actor } from '#access';
import { commentById, type CommentRow } from './run-events.queries.js';
import { run } from './run.js';
import { authorize, commentOf } from './runs.handler.js';
import { runForCommand, type StoredComments } from './runs.queries.js';

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
const COMMENTS_MOST = 500;
const COMMENTS_MOST_BYTES = 1_024 * 1_024;

const checkRoom = ({ count, bytes }: StoredComments, body: string): void => {
  if (count >= COMMENTS_MOST) throw unprocessable(`A run can have at most ${COMMENTS_MOST} comments`, 'body');
  if (bytes + Buffer.byteLength(body) > COMMENTS_MOST_BYTES) {
    throw unprocessable(`The comments of a run can have at most ${COMMENTS_MOST_BYTES} bytes together`, 'body');
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
        const found = await runForCommand(this.store.database, actor, id);
        authorize(actor, 'CommentRun', found);
        // The append checks the run's version, so comments that arrive together are counted.
        checkRoom(found.comments, body);
        return { ...(await this.store.restore(id, run, found.snapshot)), found };
      },
      command: () => commentOf(comment, body, actor),
      organization: ({ found }) => found.organization,
      holding: ({ found }) => [
        unchanged(found.organization, found.organizationVersion),
        unchanged(found.workspace, found.workspaceSnapshot.version),
      ],
      context: contextOf(actor),
      read: () => [commentById(comment)],
    });
    return firstRow<CommentRow>(rows);
  }
}
